import catalogue from './regions.json' with { type: 'json' };

export const CLOUDS = ['aws', 'azure', 'gcp'] as const;
export type Cloud = (typeof CLOUDS)[number];

/** Where a cloud region stands. The zone follows from the country, never from the letters of the name. */
export interface CloudRegion {
  readonly cloud: Cloud;
  readonly region: string;
  readonly city: string;
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
}

const isCloud = (text: string): text is Cloud => CLOUDS.some((cloud) => cloud === text);

/** Every region of the catalogue; what was checked, and how, stands in the `note` of `regions.json`. */
export const CLOUD_REGIONS: readonly CloudRegion[] = catalogue.regions.flatMap(({ provider, ...place }) =>
  isCloud(provider) ? [{ cloud: provider, ...place }] : [],
);

const byName = new Map(CLOUD_REGIONS.map((row) => [row.region, row]));

/**
 * The catalogue's row for a region name, whatever the cloud (no two clouds share a name), or undefined: a
 * region that is not listed has no zone until a person adds it.
 */
export const cloudRegion = (name: string): CloudRegion | undefined => byName.get(name);

/** The country of a region: the catalogue's word on it, and the one declared with it only where that has none. */
export const countryOf = ({ region, country }: { region?: string; country?: string }): string | undefined =>
  (region === undefined ? undefined : cloudRegion(region)?.country) ?? country;

const SPACES = /\s+/g;
const REGION_NAME = /^[a-z0-9][a-z0-9-]{0,63}$/;

/**
 * The one spelling of a region name: `Sweden Central` and `swedencentral` are the same. Undefined where the
 * text cannot be a region name, so that nothing else passes as one.
 */
export function regionName(text: string): string | undefined {
  const name = text.replaceAll(SPACES, '').toLowerCase();
  return REGION_NAME.test(name) ? name : undefined;
}

/** How the clouds spell their regions and zones, those too that the catalogue leaves out: China, governments. */
const CLOUD_SPELLINGS = [
  /^(?:af|africa|ap|asia|australia|ca|cn|eu|europe|eusc|il|me|mx|northamerica|sa|southamerica|uk|us)-(?:[a-z]+-)?(?:north|south|east|west|central)+-?\d*-?[a-z]?$/,
  /^(?:china|usdod|usgov)[a-z]*\d*$/,
];

/**
 * Whether a name is spelt as a cloud's region, or begins with one of the catalogue (`eu-west-2a`): such a name that
 * the catalogue does not have would be taken for what it is not.
 */
export const looksLikeCloudRegion = (name: string): boolean =>
  CLOUD_SPELLINGS.some((spelling) => spelling.test(name)) ||
  CLOUD_REGIONS.some(({ region }) => name.startsWith(region));

/**
 * The catalogue regions that a host name contains as whole words (`vllm-eu-west-2.example`). Says nothing about
 * whether the host's owner tells the truth.
 */
export function regionsInHost(host: string): readonly CloudRegion[] {
  const padded = `-${host.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}-`;
  return CLOUD_REGIONS.filter((row) => padded.includes(`-${row.region}-`));
}
