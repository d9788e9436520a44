import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  CLOUD_REGIONS,
  cloudRegion,
  looksLikeCloudRegion,
  regionName,
  regionsInHost,
} from '../../shared/catalogue.ts';
import catalogue from '../../shared/regions.json' with { type: 'json' };
import { COUNTRY_SETS, zoneOfCountry } from '../../shared/zones.ts';

describe('the catalogue', () => {
  it('has every row of the data file, each name once over all clouds', () => {
    expect(CLOUD_REGIONS.length).toBe(catalogue.regions.length);
    expect(new Set(CLOUD_REGIONS.map(({ region }) => region)).size).toBe(CLOUD_REGIONS.length);
  });

  it('agrees with the zones on what EU and EEA are', () => {
    expect(catalogue.sets.EU).toEqual([...COUNTRY_SETS.EU]);
    expect(catalogue.sets.EEA).toEqual([...COUNTRY_SETS.EEA]);
  });

  it.each(catalogue.traps)('does not fall for the name %s %s', (cloud = '', region = '', note = '') => {
    const country = note.slice(0, 2);
    expect(cloudRegion(region)).toMatchObject({ cloud, country });
    // Norway is the trap the other way round: outside the EU, inside the zone.
    expect(zoneOfCountry(country) === 'eu').toBe(country === 'NO');
  });

  it('knows no region by a name that it does not list', () => {
    for (const name of ['', 'eu', 'eu-west-9', 'EU-WEST-1', 'constructor', '__proto__']) {
      expect(cloudRegion(name)).toBeUndefined();
    }
  });

  it('reads one region in all its spellings', () => {
    for (const text of ['Sweden Central', 'swedencentral', ' SWEDEN  central ']) {
      expect(regionName(text)).toBe('swedencentral');
    }
    for (const text of [
      '',
      '-',
      'a,b',
      'swedencentral;x',
      'é',
      'a\u0000b',
      'a'.repeat(65),
      'France Central, East US',
    ]) {
      expect(regionName(text)).toBeUndefined();
    }
  });

  it('never makes a region name of text that is none (property)', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const name = regionName(text);
        expect(name === undefined || /^[a-z0-9-]{1,64}$/.test(name)).toBe(true);
      }),
    );
  });

  it('finds each region that a host names as a whole word, and no part of a longer one', () => {
    const inHost = (host: string) => regionsInHost(host).map(({ region }) => region);
    expect(inHost('bedrock-runtime.eu-west-2.amazonaws.com')).toEqual(['eu-west-2']);
    expect(inHost('vllm-us-east-1.example')).toEqual(['us-east-1']);
    expect(inHost('my_us-east-1_x.example')).toEqual(['us-east-1']);
    expect(inHost('eastus2.example')).toEqual(['eastus2']);
    expect(inHost('europe-west12-aiplatform.googleapis.com')).toEqual(['europe-west12']);
    expect(inHost('us-east-1.proxy.eu-central-1.amazonaws.com')).toEqual(['eu-central-1', 'us-east-1']);
    expect(inHost('us-east-15.example')).toEqual([]);
    expect(inHost('vllm.example')).toEqual([]);
  });

  it('tells names that are spelt as a cloud’s region, whether it has them or not', () => {
    for (const { region } of CLOUD_REGIONS) expect(looksLikeCloudRegion(region)).toBe(true);
    for (const name of [
      ...['eu-west-2a', 'eu-west-l', 'us-east-9', 'us-west-2-lax-1a', 'europe-west2-b', 'europe-west99'],
      ...['cn-north-1', 'cn-northwest-1', 'us-iso-east-1', 'usgovvirginia', 'usdodeast', 'chinaeast2'],
      ...['uksouth9', 'uk-south'],
    ]) {
      expect(looksLikeCloudRegion(name), name).toBe(true);
    }
    for (const name of ['customer-dc-1', 'own-1', 'anthropic-us', 'hamburg-north', 'lab', 'rack-eu-west']) {
      expect(looksLikeCloudRegion(name), name).toBe(false);
    }
  });
});
