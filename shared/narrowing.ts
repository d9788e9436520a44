import { cloudRegion, countryOf } from './catalogue.ts';
import type { Deployment, Narrowing } from './policy.ts';
import { countriesOf } from './policy-rules.ts';
import { ZONE_COUNTRIES, type Zone, zoneOfCountry } from './zones.ts';

/** Lists that take away, and whose they are in words. A list that is empty or missing takes nothing away. */
export interface Layer {
  readonly by: string;
  readonly allow: Narrowing;
}

/** Where something runs, or ran. */
export interface Place {
  readonly deployment: Deployment;
  readonly region?: string;
  /** ISO 3166-1 alpha-2, as declared; the catalogue's word goes before it. */
  readonly country?: string;
}

/** Where a place is, in words, if that is a country outside a zone; undefined where it is inside or unknown. */
export function abroad(place: Pick<Place, 'region' | 'country'>, zone: Zone): string | undefined {
  const country = countryOf(place);
  if (country === undefined) return undefined;
  const actual = zoneOfCountry(country);
  if (actual === zone) return undefined;
  const row = place.region === undefined ? undefined : cloudRegion(place.region);
  const name = row ? `${row.city} (${row.region})` : (place.region ?? 'the endpoint');
  return `${name} is in ${country}, ${actual ? `zone ${actual}` : 'in no zone'}, not ${zone}`;
}

/** Why a place is not one that a layer allows, in words; undefined where it is. */
export function misplaced(place: Place, { by, allow }: Layer, zone: Zone): string | undefined {
  const { deployment } = place;
  const { deployments = [] } = allow;
  if (deployments.length > 0 && !deployments.includes(deployment)) {
    return `deployment type ${deployment} routes across regions, which ${by} does not allow`;
  }
  return outsideCountries(place, { by, allow }, zone) ?? outsideRegions(place, { by, allow });
}

function outsideCountries(place: Place, { by, allow }: Layer, zone: Zone): string | undefined {
  if (allow.countries === undefined) return undefined;
  const countries = countriesOf(allow.countries);
  switch (place.deployment) {
    case 'global':
      return `deployment type global may run anywhere in the world, which ${by} does not allow`;
    case 'zone': {
      // What may run anywhere in the zone is inside a set of countries only if the whole zone is.
      const missing = ZONE_COUNTRIES[zone].find((member) => !countries.has(member));
      if (missing === undefined) return undefined;
      return `deployment type zone may run anywhere in ${zone}, and ${by} does not allow ${missing}`;
    }
    case 'regional': {
      const country = countryOf(place);
      if (country !== undefined && countries.has(country)) return undefined;
      const region = place.region ?? 'not labelled';
      return `region ${region} is in ${country ?? 'no known country'}, which ${by} does not allow`;
    }
  }
}

function outsideRegions(place: Place, { by, allow: { regions = [] } }: Layer): string | undefined {
  const { region, deployment } = place;
  if (regions.length === 0) return undefined;
  if (region === undefined) return `region not labelled, and ${by} names regions`;
  if (deployment !== 'regional') {
    return `deployment type ${deployment} routes across regions, and ${by} names regions`;
  }
  if (regions.includes(region)) return undefined;
  return `region ${region} (${countryOf(place) ?? 'no country'}) is not one that ${by} names`;
}

/** Why a model is not one that a layer approves, in words; undefined where it is. */
export function unapproved(model: string | undefined, { by, allow }: Layer): string | undefined {
  const { models = [] } = allow;
  if (models.length === 0 || model === undefined || models.includes(model)) return undefined;
  return `model ${model} is not on the approved list of ${by}`;
}
