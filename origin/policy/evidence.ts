import { cloudRegion } from '../../shared/catalogue.ts';
import { gradeMeets } from '../../shared/policy-rules.ts';
import type { AuditRecord, RegionSource } from '../../shared/record.ts';
import { isZone, ZONE_COUNTRIES } from '../../shared/zones.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type ObservedRegion, providerOf } from '../endpoints/provider.ts';
import { bestEvidenceOfHead, observedRegions, type Said } from '../endpoints/region-evidence.ts';
import { exceptionOf, lastingRejection, type Standpoint } from './standing.ts';

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
  const judged = observedRegions(providerOf(endpoint.provider), endpoint, said).map((one) =>
    judge(one, endpoint, workload, for_),
  );
  const misplaced = judged.find(({ allowed }) => !allowed);
  const told = misplaced ?? judged[0];
  if (told === undefined) {
    return { finding: shows(undefined, for_) ? 'fine' : 'too_weak', facts: { region_verdict: 'unverified' } };
  }
  const { region, source, verdict } = told;
  const facts = { serving_region: region, region_source: source, region_verdict: verdict };
  if (misplaced !== undefined) return { finding: 'misplaced', facts };
  return {
    finding: shows(verdict === 'unverified' ? 'declared' : source, for_) ? 'fine' : 'too_weak',
    facts,
  };
}

/** Whether an endpoint can show its place as well as is asked for by an answer whose body says nothing of it. */
export const canShowByHead = (endpoint: Endpoint, for_: Standpoint): boolean =>
  shows(bestEvidenceOfHead(providerOf(endpoint.provider), endpoint), for_);

/**
 * A region other than the endpoint's own must pass the same rules that a candidate passes; one that the
 * catalogue does not know passes none.
 */
function judge(observed: ObservedRegion, endpoint: Endpoint, workload: string, for_: Standpoint): Judged {
  const { region, source } = observed;
  const judged = (allowed: boolean, verdict: Verdict): Judged => ({ ...observed, allowed, verdict });
  if (source === 'declared') return judged(true, 'unverified');
  if (region === endpoint.region) return judged(true, 'match');
  if (isZone(region) && region === endpoint.zone) {
    // It agrees with what was declared as far as it goes, and is proof only where it goes as far.
    const asFar = endpoint.deployment !== 'regional' || ZONE_COUNTRIES[region].length === 1;
    return judged(true, asFar ? 'match' : 'unverified');
  }
  if (isZone(region) || region === 'global') {
    const worldwide = endpoint.deployment === 'global';
    return judged(worldwide && lastingRejection(endpoint, workload, for_) === undefined, 'mismatch');
  }
  const { country: _, zone: __, ...rest } = endpoint;
  const country = cloudRegion(region)?.country;
  if (country === undefined) return judged(false, 'mismatch');
  return judged(lastingRejection({ ...rest, region, country }, workload, for_) === undefined, 'mismatch');
}

/** Whether a grade is as good as the policy, its packs and the tenant's exception ask for. */
function shows(grade: RegionSource | undefined, { policy, tenant }: Standpoint): boolean {
  const { document, packs } = policy;
  const layers = [document.allow, ...packs.map(({ allow }) => allow), exceptionOf(policy, tenant)?.allow];
  return layers.every((allow) => {
    const asked = allow?.region_evidence ?? 'declared';
    return asked === 'declared' || (grade !== undefined && gradeMeets(grade, asked));
  });
}
