import { unapproved } from '../../../shared/narrowing.ts';
import {
  exceptionLayer,
  layersOf,
  type PolicyInForce,
  policyLabel,
  workloadOf,
} from '../../../shared/policy-in-force.ts';
import { graphOf } from '../../../shared/policy-rules.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import { type DeclaredRegions, notAllowed } from '../../../shared/verify/allowed.ts';

const SEEN_OUTSIDE = 'the gateway found evidence of a region outside the policy there';

/** Why the policy version that a record cites does not allow the region that it tells of. */
export function regionOutside(
  record: AuditRecord,
  policy: PolicyInForce | undefined,
  declared: DeclaredRegions,
): string | undefined {
  const wrong =
    record.kind === 'violation' && record.region_verdict === 'mismatch' ? SEEN_OUTSIDE : undefined;
  if (policy === undefined) return wrong ?? 'the record cites no policy version';
  // Of the place alone: without a model, and as what is no answer, whose evidence would be weighed too.
  const { model: _, ...place } = record;
  return notAllowed({ ...place, kind: 'failed' }, policy, declared) ?? wrong;
}

/** Why the graph of the workload does not have the endpoint. */
export function endpointOutside(
  { workload = '', endpoint = '' }: AuditRecord,
  { document }: PolicyInForce,
): string | undefined {
  const named = endpointsOf(document, workload);
  return named.includes(endpoint)
    ? undefined
    : `the graph of ${workload} in ${policyLabel(document)} does not name it`;
}

/** The endpoints of a workload in the order in which they are tried; none where the policy does not have it. */
export function endpointsOf(document: PolicyInForce['document'], workload: string): readonly string[] {
  const entry = workloadOf(document, workload);
  return entry === undefined ? [] : graphOf(entry.failover).map(({ endpoint }) => endpoint);
}

/** Why the model is not among those that the policy, a pack of it or the tenant's exception approves. */
export function modelOutside({ tenant = '', model }: AuditRecord, policy: PolicyInForce): string | undefined {
  const layers = [...layersOf(policy), exceptionLayer(policy, tenant)];
  const unfit = layers.map((layer) => layer && unapproved(model, layer));
  return unfit.find((words) => words !== undefined);
}
