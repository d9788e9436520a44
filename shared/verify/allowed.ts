import { countryOf } from '../catalogue.ts';
import { abroad, misplaced, type Place, unapproved } from '../narrowing.ts';
import { DEPLOYMENTS, type Deployment } from '../policy.ts';
import {
  exceptionLayer,
  foreignPolicy,
  layersOf,
  type PolicyInForce,
  showsEnough,
  unpinnedReason,
} from '../policy-in-force.ts';
import type { AuditRecord } from '../record.ts';
import { isZone, type Zone } from '../zones.ts';

/** Countries of regions that no catalogue lists, by the operator's word. */
export type DeclaredRegions = ReadonlyMap<string, string>;

/**
 * Why an answer should not have come from where its record says, by the policy version that it cites, its packs and
 * the tenant's exception; undefined where that is allowed. What the team of a key may not use is not on record.
 */
export function notAllowed(
  record: AuditRecord,
  policy: PolicyInForce,
  declared: DeclaredRegions,
): string | undefined {
  const { tenant = '', workload = '', model, jurisdiction: zone } = record;
  const deployment = DEPLOYMENTS.find((known) => known === record.deployment);
  if (deployment === undefined) return 'the record does not say how the endpoint uses its regions';
  const free = deployment !== 'regional' && unpinnedReason(policy, workload) !== undefined;
  const exception = exceptionLayer(policy, tenant);
  const own = layersOf(policy);
  const everything = exception === undefined ? own : [...own, exception];
  const boundaries = free ? everything.slice(own.length) : everything;
  return (
    foreignPolicy(policy, zone) ??
    first(
      placesOf(record, deployment, declared),
      (place) => outside(place, zone, free) ?? first(boundaries, (layer) => misplaced(place, layer, zone)),
    ) ??
    elsewhere(record, deployment, declared) ??
    first(everything, (layer) => unapproved(model, layer)) ??
    tooWeak(record, policy)
  );
}

/** Whatever else a policy says: outside the zone runs only what it frees from any place at all. */
function outside(place: Place, zone: Zone, free: boolean): string | undefined {
  if (place.deployment !== 'global') return abroad(place, zone);
  return free ? undefined : 'deployment type global may run anywhere in the world';
}

/** Where the registry puts the endpoint, and where the answer came from if that is another region. */
function placesOf(
  { provider_region: own, serving_region: served }: AuditRecord,
  deployment: Deployment,
  declared: DeclaredRegions,
): readonly Place[] {
  const place = (region: string | undefined): Place =>
    region === undefined ? { deployment } : { deployment, region, ...countryIn(declared, region) };
  return served === undefined || served === own || isWide(served)
    ? [place(own)]
    : [place(own), place(served)];
}

function countryIn(declared: DeclaredRegions, region: string): { country?: string } {
  const country = declared.get(region);
  return country === undefined ? {} : { country };
}

/** A zone tag says no more than the zone, and `global` nothing at all. */
const isWide = (region: string): boolean => region === 'global' || isZone(region);

/** What the place of an answer alone tells, where it is not the endpoint's own region. */
function elsewhere(
  { serving_region: served, provider_region: own, jurisdiction }: AuditRecord,
  deployment: Deployment,
  declared: DeclaredRegions,
): string | undefined {
  if (served === undefined || served === own || served === jurisdiction) return undefined;
  if (isWide(served)) {
    return deployment === 'global'
      ? undefined
      : `the answer came from ${served}, which is not ${jurisdiction}`;
  }
  const country = countryOf({ region: served, ...countryIn(declared, served) });
  return country === undefined ? `no country is known of ${served}, where the answer came from` : undefined;
}

function tooWeak(record: AuditRecord, policy: PolicyInForce): string | undefined {
  // A verdict on the request is no answer of a model, and those who give it may not know where one runs.
  if (record.kind !== 'served') return undefined;
  const grade = record.region_verdict === 'unverified' ? 'declared' : record.region_source;
  return showsEnough(grade, policy, record.tenant ?? '')
    ? undefined
    : `its region is shown by ${grade ?? 'nothing'}, which is weaker than the policy asks for`;
}

function first<T, R>(list: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
