import { countryOf } from '../../shared/catalogue.ts';
import { abroad, type Layer, misplaced, unapproved } from '../../shared/narrowing.ts';
import { packLabel } from '../../shared/pack.ts';
import { exceptionLayer, foreignPolicy, layersOf, unpinnedReason } from '../../shared/policy-in-force.ts';
import { gradeMeets } from '../../shared/policy-rules.ts';
import type { Zone } from '../../shared/zones.ts';
import { type Endpoint, modelOf } from '../endpoints/endpoint.ts';
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

const place = (words: string | undefined): LastingRejection | undefined =>
  words === undefined ? undefined : { kind: 'place', words };
const model = (words: string | undefined): LastingRejection | undefined =>
  words === undefined ? undefined : { kind: 'model', words };

/**
 * Why an endpoint may never serve a workload for this caller, or undefined where it may: jurisdiction first,
 * then policy, packs, tenant exception and team lock, each of which can only take away. For a workload that is
 * not pinned, zone and global deployments are not asked where the policy and its packs want them to be; what
 * one tenant's exception or team's lock says of places holds for them all the same.
 */
export function lastingRejection(
  endpoint: Endpoint,
  workload: string,
  { zone, policy, tenant, team }: Standpoint,
): LastingRejection | undefined {
  const free = endpoint.deployment !== 'regional' && unpinnedReason(policy, workload) !== undefined;
  const own = modelOf(endpoint, workload);
  const exception = exceptionLayer(policy, tenant);
  const narrowedOut = (layer: Layer, places: boolean) =>
    (places ? place(misplaced(endpoint, layer, zone)) : undefined) ??
    model(unapproved(own, layer)) ??
    place(weakEvidence(endpoint, layer));
  return (
    place(outsideZone(endpoint, zone, free)) ??
    place(foreignPolicy(policy, zone)) ??
    first(layersOf(policy), (layer) => narrowedOut(layer, !free)) ??
    (exception && narrowedOut(exception, true)) ??
    place(lockedOut(endpoint, team)) ??
    model(noList(policy)) ??
    (own === undefined ? place('the workload is not deployed there') : undefined)
  );
}

/** Why an endpoint cannot show its region as well as a layer asks, in words; undefined where it can. */
function weakEvidence(endpoint: Endpoint, { by, allow }: Layer): string | undefined {
  // `declared` is the weakest grade, and asks for nothing.
  if (allow.region_evidence === undefined || allow.region_evidence === 'declared') return undefined;
  const grade = bestEvidence(endpoint);
  if (grade !== undefined && gradeMeets(grade, allow.region_evidence)) return undefined;
  return `its region can be shown by ${grade ?? 'nothing'} at best, and ${by} asks for ${allow.region_evidence}`;
}

function first<T, R>(list: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Why an endpoint is not known to stay inside a zone. Asked again of each candidate and not only when the
 * registry is read, so that no mistake in a configuration can open the zone.
 */
function outsideZone(endpoint: Endpoint, zone: Zone, free: boolean): string | undefined {
  if (endpoint.deployment === 'global') {
    return free ? undefined : 'deployment type global routes across regions of the whole world';
  }
  const elsewhere = abroad(endpoint, zone);
  if (elsewhere !== undefined) return elsewhere;
  if (countryOf(endpoint) !== undefined) return undefined;
  const zoneWide = endpoint.deployment === 'zone' && endpoint.zone === zone;
  return zoneWide ? undefined : 'region not labelled: it is not known in which country it runs';
}

/** An empty list of models sets no limit, which a pack that asks for a list must not be answered with. */
function noList({ document, packs }: LoadedPolicy): string | undefined {
  if (document.allow.models.length > 0) return undefined;
  const demanding = packs.find((pack) => pack.require_approved_models);
  return (
    demanding && `the pack ${packLabel(demanding)} asks for a list of approved models, and there is none`
  );
}

function lockedOut({ region, deployment }: Endpoint, team: CallerTeam | undefined): string | undefined {
  if (team?.allowed_regions === undefined) return undefined;
  const lock = `the region lock of team ${team.name}`;
  if (region === undefined) return `region not labelled, and ${lock} applies`;
  if (deployment !== 'regional')
    return `deployment type ${deployment} routes across regions, and ${lock} applies`;
  return team.allowed_regions.includes(region) ? undefined : `region ${region} is outside ${lock}`;
}
