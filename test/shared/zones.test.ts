import { describe, expect, it } from 'vitest';
import { COUNTRY_SETS, isZone, ZONE_COUNTRIES, ZONES, zoneOfCountry } from '../../shared/zones.ts';

describe('zones', () => {
  it('are the tags of the contract', () => {
    expect(ZONES).toEqual(['eu', 'us', 'uk', 'ch', 'ca', 'au', 'jp', 'in', 'sg', 'kr', 'br', 'ae']);
  });

  it('hold each country once, so that a country has one zone', () => {
    const countries = Object.values(ZONE_COUNTRIES).flat();
    expect(new Set(countries).size).toBe(countries.length);
  });

  it('make eu the 30 countries of the EEA, without London and Zurich', () => {
    expect(new Set(COUNTRY_SETS.EU).size).toBe(27);
    expect(new Set(ZONE_COUNTRIES.eu).size).toBe(30);
    expect(['NO', 'IS', 'LI'].map(zoneOfCountry)).toEqual(['eu', 'eu', 'eu']);
    expect(zoneOfCountry('GB')).toBe('uk');
    expect(zoneOfCountry('CH')).toBe('ch');
  });

  it('are never read from a country code, a set, or a name that every object has', () => {
    for (const text of [
      'EU',
      'de',
      'DE',
      'EEA',
      'eu-west-1',
      '',
      ' eu',
      'constructor',
      '__proto__',
      'toString',
    ]) {
      expect(isZone(text)).toBe(false);
    }
    expect(zoneOfCountry('eu')).toBeUndefined();
    expect(zoneOfCountry('')).toBeUndefined();
  });
});
