import type { Narrowing } from '../../shared/policy.ts';
import { countriesOf, gradeMeets } from '../../shared/policy-rules.ts';
import { ZONE_COUNTRIES, type Zone } from '../../shared/zones.ts';
import { type Endpoint, modelOf } from '../endpoints/endpoint.ts';
import { abroad, countryOf } from '../endpoints/location.ts';
import { providerOf } from '../endpoints/provider.ts';
import { bestEvidence } from '../endpoints/region-evidence.ts';
import type { LoadedPolicy } from './document.ts';

/** The team of the caller's key, with its lock if it has one. An empty list lets nothing through. */
export interface CallerTeam {
  readonly name: string;
  readonly allowed_regions?: readonly string[];
  readonly workloads?: readonly string[];
}

/** For whom an endpoint is considered. */
export interface Standpoint {
  readonly zone: Zone;
  readonly policy: LoadedPolicy;
  readonly tenant: string;
  readonly team: CallerTeam | undefined;
}

/** Why an endpoint is no candidate for as long as the documents stay as they are. */
export interface LastingRejection {
  readonly kind: 'place' | 'model';
  readonly words: string;
}

const place = (words: string): LastingRejection => ({ kind: 'place', words });
const model = (words: string): LastingRejection => ({ kind: 'model', words });

/**
 * Why an endpoint may never serve a workload for this caller, or undefined where it may: jurisdiction first,
 * then policy, tenant exception and team lock, each of which can only take away.
 */
export function lastingRejection(
  endpoint: Endpoint,
  workload: string,
  { zone, policy, tenant, team }: Standpoint,
): LastingRejection | undefined {
  const own = modelOf(endpoint, workload);
  const { document, label } = policy;
  const exception = exceptionOf(policy, tenant)?.allow;
  return (
    outsideZone(endpoint, zone) ??
    (document.jurisdiction === zone ? undefined : place(`policy ${label} is not of the zone ${zone}`)) ??
    narrowedOut(endpoint, own, document.allow, zone, `policy ${label}`) ??
    (exception && narrowedOut(endpoint, own, exception, zone, `the exception of tenant ${tenant}`)) ??
    lockedOut(endpoint, team) ??
    (own === undefined ? place('the workload is not deployed there') : undefined)
  );
}

/** The exception of a tenant, if the policy has one. */
export const exceptionOf = ({ document }: LoadedPolicy, tenant: string) =>
  Object.hasOwn(document.tenants, tenant) ? document.tenants[tenant] : undefined;

/**
 * Why an endpoint is not known to stay inside a zone. Asked again of each candidate and not only when the
 * registry is read, so that no mistake in a configuration can open the zone.
 */
function outsideZone(endpoint: Endpoint, zone: Zone): LastingRejection | undefined {
  if (endpoint.deployment === 'global') {
    return place('deployment type global routes across regions of the whole world');
  }
  const elsewhere = abroad(endpoint, zone);
  if (elsewhere !== undefined) return place(elsewhere);
  if (countryOf(endpoint) !== undefined) return undefined;
  const zoneWide = endpoint.deployment === 'zone' && endpoint.zone === zone;
  return zoneWide ? undefined : place('region not labelled: it is not known in which country it runs');
}

/** Why the lists of a policy or an exception leave an endpoint out. A list that is empty or missing does not. */
function narrowedOut(
  endpoint: Endpoint,
  own: string | undefined,
  allow: Narrowing,
  zone: Zone,
  by: string,
): LastingRejection | undefined {
  const { region, deployment } = endpoint;
  const deployments = allow.deployments ?? [];
  if (deployments.length > 0 && !deployments.includes(deployment)) {
    return place(`deployment type ${deployment} routes across regions, which ${by} does not allow`);
  }
  const outside = allow.countries && outsideCountries(endpoint, countriesOf(allow.countries), zone, by);
  if (outside) return outside;
  const regions = allow.regions ?? [];
  if (regions.length > 0) {
    if (region === undefined) return place(`region not labelled, and ${by} names regions`);
    if (deployment !== 'regional')
      return place(`deployment type ${deployment} routes across regions, and ${by} names regions`);
    if (!regions.includes(region))
      return place(`region ${region} (${countryOf(endpoint) ?? 'no country'}) is not one that ${by} names`);
  }
  const models = allow.models ?? [];
  if (models.length > 0 && own !== undefined && !models.includes(own)) {
    return model(`model ${own} is not on the approved list of ${by}`);
  }
  return weakEvidence(endpoint, allow, by);
}

/** What may run anywhere in the zone is inside a set of countries only if the whole zone is. */
function outsideCountries(
  endpoint: Endpoint,
  countries: ReadonlySet<string>,
  zone: Zone,
  by: string,
): LastingRejection | undefined {
  const { region, deployment } = endpoint;
  const country = countryOf(endpoint);
  if (deployment !== 'regional') {
    const missing = ZONE_COUNTRIES[zone].find((member) => !countries.has(member));
    if (missing === undefined) return undefined;
    return place(
      `deployment type ${deployment} may run anywhere in ${zone}, and ${by} does not allow ${missing}`,
    );
  }
  if (country !== undefined && countries.has(country)) return undefined;
  return place(
    `region ${region ?? 'not labelled'} is in ${country ?? 'no known country'}, which ${by} does not allow`,
  );
}

function weakEvidence(endpoint: Endpoint, allow: Narrowing, by: string): LastingRejection | undefined {
  // `declared` is the weakest grade, and asks for nothing.
  if (allow.region_evidence === undefined || allow.region_evidence === 'declared') return undefined;
  const grade = bestEvidence(providerOf(endpoint.provider), endpoint);
  if (grade !== undefined && gradeMeets(grade, allow.region_evidence)) return undefined;
  return place(
    `its region can be shown by ${grade ?? 'nothing'} at best, and ${by} asks for ${allow.region_evidence}`,
  );
}

function lockedOut(
  { region, deployment }: Endpoint,
  team: CallerTeam | undefined,
): LastingRejection | undefined {
  if (team?.allowed_regions === undefined) return undefined;
  const lock = `the region lock of team ${team.name}`;
  if (region === undefined) return place(`region not labelled, and ${lock} applies`);
  if (deployment !== 'regional')
    return place(`deployment type ${deployment} routes across regions, and ${lock} applies`);
  return team.allowed_regions.includes(region) ? undefined : place(`region ${region} is outside ${lock}`);
}
