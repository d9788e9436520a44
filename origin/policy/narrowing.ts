import type { Narrowing } from '../../shared/policy.ts';
import { countriesOf, gradeMeets } from '../../shared/policy-rules.ts';
import { ZONE_COUNTRIES, type Zone } from '../../shared/zones.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { countryOf } from '../endpoints/location.ts';
import { providerOf } from '../endpoints/provider.ts';
import { bestEvidence } from '../endpoints/region-evidence.ts';

/** Lists that take away, and whose they are in words. A list that is empty or missing takes nothing away. */
export interface Layer {
  readonly by: string;
  readonly allow: Narrowing;
}

/** Why the place of an endpoint is not one that a layer allows, in words; undefined where it is. */
export function misplaced(endpoint: Endpoint, { by, allow }: Layer, zone: Zone): string | undefined {
  const { deployment } = endpoint;
  const { deployments = [] } = allow;
  if (deployments.length > 0 && !deployments.includes(deployment)) {
    return `deployment type ${deployment} routes across regions, which ${by} does not allow`;
  }
  return outsideCountries(endpoint, { by, allow }, zone) ?? outsideRegions(endpoint, { by, allow });
}

function outsideCountries(endpoint: Endpoint, { by, allow }: Layer, zone: Zone): string | undefined {
  if (allow.countries === undefined) return undefined;
  const countries = countriesOf(allow.countries);
  switch (endpoint.deployment) {
    case 'global':
      return `deployment type global may run anywhere in the world, which ${by} does not allow`;
    case 'zone': {
      // What may run anywhere in the zone is inside a set of countries only if the whole zone is.
      const missing = ZONE_COUNTRIES[zone].find((member) => !countries.has(member));
      if (missing === undefined) return undefined;
      return `deployment type zone may run anywhere in ${zone}, and ${by} does not allow ${missing}`;
    }
    case 'regional': {
      const country = countryOf(endpoint);
      if (country !== undefined && countries.has(country)) return undefined;
      const region = endpoint.region ?? 'not labelled';
      return `region ${region} is in ${country ?? 'no known country'}, which ${by} does not allow`;
    }
  }
}

function outsideRegions(endpoint: Endpoint, { by, allow: { regions = [] } }: Layer): string | undefined {
  const { region, deployment } = endpoint;
  if (regions.length === 0) return undefined;
  if (region === undefined) return `region not labelled, and ${by} names regions`;
  if (deployment !== 'regional') {
    return `deployment type ${deployment} routes across regions, and ${by} names regions`;
  }
  if (regions.includes(region)) return undefined;
  return `region ${region} (${countryOf(endpoint) ?? 'no country'}) is not one that ${by} names`;
}

/** Why a model is not one that a layer approves, in words; undefined where it is. */
export function unapproved(model: string | undefined, { by, allow }: Layer): string | undefined {
  const { models = [] } = allow;
  if (models.length === 0 || model === undefined || models.includes(model)) return undefined;
  return `model ${model} is not on the approved list of ${by}`;
}

/** Why an endpoint cannot show its region as well as a layer asks, in words; undefined where it can. */
export function weakEvidence(endpoint: Endpoint, { by, allow }: Layer): string | undefined {
  // `declared` is the weakest grade, and asks for nothing.
  if (allow.region_evidence === undefined || allow.region_evidence === 'declared') return undefined;
  const grade = bestEvidence(providerOf(endpoint.provider), endpoint);
  if (grade !== undefined && gradeMeets(grade, allow.region_evidence)) return undefined;
  return `its region can be shown by ${grade ?? 'nothing'} at best, and ${by} asks for ${allow.region_evidence}`;
}
