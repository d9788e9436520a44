import { cloudRegion } from '../../shared/catalogue.ts';
import { showsEnough } from '../../shared/policy-in-force.ts';
import type { AuditRecord, RegionSource } from '../../shared/record.ts';
import { isZone, ZONE_COUNTRIES } from '../../shared/zones.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { ObservedRegion } from '../endpoints/provider.ts';
import {
  bestEvidenceOfHead,
  observedRegions,
  type Said,
  UNREADABLE_REGION,
} from '../endpoints/region-evidence.ts';
import { lastingRejection, type Standpoint } from './standing.ts';

/** Where an answer ran by the best evidence there is, and whether the policy lets it be served. */
export interface Evidence {
  /**
   * `misplaced`: something says that it ran where the policy does not allow it. `too_weak`: nothing does, but
   * what there is does not show the place as well as the policy asks for.
   */
  readonly finding: 'fine' | 'misplaced' | 'too_weak';
  readonly facts: Pick<AuditRecord, 'serving_region' | 'region_source' | 'region_verdict'>;
}

type Verdict = NonNullable<AuditRecord['region_verdict']>;

interface Judged extends ObservedRegion {
  readonly allowed: boolean;
  readonly verdict: Verdict;
}

/**
 * Weighs what an answer and the endpoint's host say of where it ran. Each piece of evidence counts: where one
 * of them is of a place that is not allowed, better grades of another place do not outweigh it.
 */
export function weigh(endpoint: Endpoint, said: Said, workload: string, for_: Standpoint): Evidence {
  const judged = observedRegions(endpoint, said).map((one) => judge(one, endpoint, workload, for_));
  const misplaced = judged.find(({ allowed }) => !allowed);
  const told = misplaced ?? judged[0];
  if (told === undefined) {
    return { finding: shows(undefined, for_) ? 'fine' : 'too_weak', facts: { region_verdict: 'unverified' } };
  }
  const { region, source, verdict } = told;
  const facts = { serving_region: region, region_source: source, region_verdict: verdict };
  if (misplaced !== undefined) return { finding: 'misplaced', facts };
  if (shows(verdict === 'unverified' ? 'declared' : source, for_)) return { finding: 'fine', facts };
  // A violation whose verdict is `mismatch` speaks of a place outside the policy, which this one does not.
  return { finding: 'too_weak', facts: { ...facts, region_verdict: 'unverified' } };
}

/**
 * Why an endpoint may not be asked for counts, in words; undefined where it may. A request for one tells no endpoint
 * where to run, and the body of its answer has no room for evidence:
 * https://platform.claude.com/docs/en/api/messages/count_tokens
 */
export function unfitToCount(endpoint: Endpoint, for_: Standpoint): string | undefined {
  if (endpoint.pin !== undefined)
    return 'it counts anywhere, as it is told where to run by other requests alone';
  if (shows(bestEvidenceOfHead(endpoint), for_)) return undefined;
  return 'its counts cannot show its region as well as the policy asks';
}

/**
 * A region other than the endpoint's own must pass the same rules that a candidate passes; one that the
 * catalogue does not know passes none.
 */
function judge(observed: ObservedRegion, endpoint: Endpoint, workload: string, for_: Standpoint): Judged {
  const { region, source } = observed;
  const judged = (allowed: boolean, verdict: Verdict): Judged => ({ ...observed, allowed, verdict });
  if (source === 'declared') return judged(true, 'unverified');
  // Before the endpoint's own label: no label may agree with words that name no region.
  if (region === UNREADABLE_REGION) return judged(false, 'mismatch');
  if (isZone(region) && region === endpoint.zone) {
    // It agrees with what was declared as far as it goes, and is proof only where it goes as far.
    const asFar = endpoint.deployment !== 'regional' || ZONE_COUNTRIES[region].length === 1;
    return judged(true, asFar ? 'match' : 'unverified');
  }
  if (isZone(region) || region === 'global') {
    const worldwide = endpoint.deployment === 'global';
    return judged(worldwide && lastingRejection(endpoint, workload, for_) === undefined, 'mismatch');
  }
  if (region === endpoint.region) return judged(true, 'match');
  const { country: _, zone: __, ...rest } = endpoint;
  const country = cloudRegion(region)?.country;
  if (country === undefined) return judged(false, 'mismatch');
  return judged(lastingRejection({ ...rest, region, country }, workload, for_) === undefined, 'mismatch');
}

const shows = (grade: RegionSource | undefined, { policy, tenant }: Standpoint): boolean =>
  showsEnough(grade, policy, tenant);
