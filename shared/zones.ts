const EU = [
  ...['AT', 'BE', 'BG', 'HR', 'CY', 'CZ', 'DK', 'EE', 'FI', 'FR', 'DE', 'GR', 'HU', 'IE', 'IT', 'LV', 'LT'],
  ...['LU', 'MT', 'NL', 'PL', 'PT', 'RO', 'SK', 'SI', 'ES', 'SE'],
] as const;

/** Named sets of ISO 3166-1 alpha-2 countries that a policy may write instead of listing them. */
export const COUNTRY_SETS = { EU, EEA: [...EU, 'IS', 'LI', 'NO'] } as const;

/**
 * The jurisdictions and the countries that each is made of. To add one, add its line.
 * `eu` is the EEA; the United Kingdom and Switzerland are zones of their own.
 */
export const ZONE_COUNTRIES = {
  eu: COUNTRY_SETS.EEA,
  us: ['US'],
  uk: ['GB'],
  ch: ['CH'],
  ca: ['CA'],
  au: ['AU'],
  jp: ['JP'],
  in: ['IN'],
  sg: ['SG'],
  kr: ['KR'],
  br: ['BR'],
  ae: ['AE'],
} as const satisfies Record<string, readonly string[]>;

export type Zone = keyof typeof ZONE_COUNTRIES;

export const isZone = (text: string): text is Zone => Object.hasOwn(ZONE_COUNTRIES, text);

/** Every zone tag, in the order of the table. */
export const ZONES: readonly Zone[] = Object.keys(ZONE_COUNTRIES).filter(isZone);

/** The zone that a country (ISO 3166-1 alpha-2) belongs to, if it belongs to one. */
export const zoneOfCountry = (country: string): Zone | undefined =>
  ZONES.find((zone) => ZONE_COUNTRIES[zone].some((member) => member === country));
