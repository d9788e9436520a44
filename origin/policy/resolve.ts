import type { Refusal, RejectedCandidate } from '../../shared/errors.ts';
import { exceptionOf, unpinnedReason, workloadOf } from '../../shared/policy-in-force.ts';
import { type GraphStep, graphOf } from '../../shared/policy-rules.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { Api } from '../../shared/routes.ts';
import { type Endpoint, modelOf } from '../endpoints/endpoint.ts';
import { everyEndpointHealthy, type HealthSnapshot } from '../health/snapshot.ts';
import { lastingRejection, type Standpoint } from './standing.ts';

/** Longest `selection_reason` and longest `rejected` that a record can hold, in characters. */
const REASON_LENGTH = 512;

/** Bounds of `Retry-After`, in seconds, whatever the health of an endpoint says. */
const RETRY_AFTER_S = { least: 1, most: 3_600 };

/** An endpoint that may serve the call. */
export interface Candidate {
  readonly endpoint: Endpoint;
  /** The endpoint's own id of the model. */
  readonly model: string;
  /** Its place in the graph, and why the ones before it are passed over: the record's `selection_reason`. */
  readonly reason: string;
}

export interface Resolution {
  readonly workload: string;
  readonly class: string;
  /** The policy's reason why the workload is not pinned to the zone; missing where it is. */
  readonly unpinned?: string;
  /** At least one, in the order of the graph. */
  readonly candidates: readonly Candidate[];
  readonly rejected: readonly RejectedCandidate[];
}

export interface ResolveInput extends Standpoint {
  readonly workload: string;
  readonly api: Api;
  readonly registry: ReadonlyMap<string, Endpoint>;
  readonly health: HealthSnapshot;
  /** Ms since the epoch. */
  readonly now: number;
}

export type PolicyRefusal = Extract<
  Refusal,
  { readonly code: 'workload_unknown' | 'model_not_allowed' | 'region_blocked' | 'no_compliant_endpoint' }
>;

type Verdict =
  | { readonly kind: 'usable'; readonly endpoint: Endpoint; readonly model: string; readonly role: string }
  | {
      readonly kind: 'api' | 'place' | 'model' | 'health';
      readonly endpoint: string;
      readonly words: string;
      readonly retryAt?: number;
    };

/**
 * Which endpoints may serve a call, in order, and why each other one may not. Jurisdiction, policy, exception
 * and lock are asked first and health last, so that an outage is never told as a denial, nor a denial as an
 * outage. The same input gives the same answer.
 */
export function resolve(input: ResolveInput): Result<Resolution, PolicyRefusal> {
  const { policy, workload } = input;
  const entry = workloadOf(policy.document, workload);
  if (entry === undefined) return err({ code: 'workload_unknown', why: 'not_in_policy' });
  if (!mayCall(input)) return err({ code: 'model_not_allowed', policy: policy.label, candidates: [] });

  const verdicts = graphOf(entry.failover)
    .filter(({ endpoint }, index, graph) => graph.findIndex((step) => step.endpoint === endpoint) === index)
    .map((step) => verdictOf(step, input));
  const candidates = verdicts.flatMap((verdict, index) => candidateOf(verdict, verdicts.slice(0, index)));
  const rejected = verdicts.flatMap(rejectionOf);
  if (candidates.length === 0) return err(refusalOf(verdicts, rejected, input));
  const unpinned = unpinnedReason(policy, workload);
  return ok({
    workload,
    class: entry.class,
    ...(unpinned !== undefined && { unpinned }),
    candidates,
    rejected,
  });
}

/** The workloads that the caller may call over an API, whatever the health, in the order of the policy. */
export function workloadsFor(input: Omit<ResolveInput, 'workload' | 'health' | 'now'>): readonly string[] {
  return Object.keys(input.policy.document.workloads).filter(
    (workload) => resolve({ ...input, workload, health: everyEndpointHealthy, now: 0 }).ok,
  );
}

/** Whether the lists of the tenant's exception and of the team, where there are any, name the workload. */
function mayCall({ policy, tenant, team, workload }: ResolveInput): boolean {
  const lists = [exceptionOf(policy, tenant)?.workloads, team?.workloads];
  return lists.every((list) => list === undefined || list.includes(workload));
}

function verdictOf({ endpoint: id, role }: GraphStep, input: ResolveInput): Verdict {
  const endpoint = input.registry.get(id);
  if (endpoint === undefined) return { kind: 'place', endpoint: id, words: 'is not in the registry' };
  const lasting = lastingRejection(endpoint, input.workload, input);
  const model = modelOf(endpoint, input.workload);
  if (endpoint.api !== input.api) {
    return { kind: 'api', endpoint: id, words: lasting?.words ?? `speaks the ${endpoint.api} API only` };
  }
  if (lasting || model === undefined) {
    return { endpoint: id, ...(lasting ?? { kind: 'place', words: 'the workload is not deployed there' }) };
  }
  const health = input.health.of(id);
  if (!health.usable) return { kind: 'health', endpoint: id, words: health.why, retryAt: health.retryAt };
  return { kind: 'usable', endpoint, model, role };
}

function candidateOf(verdict: Verdict, before: readonly Verdict[]): Candidate[] {
  if (verdict.kind !== 'usable') return [];
  const passed = before
    .flatMap(rejectionOf)
    .map(({ endpoint, rejected }) => `${endpoint} rejected: ${rejected}`);
  const reason = passed.length === 0 ? verdict.role : `${verdict.role}: ${passed.join('; ')}`;
  return [{ endpoint: verdict.endpoint, model: verdict.model, reason: bounded(reason) }];
}

const rejectionOf = (verdict: Verdict): RejectedCandidate[] =>
  verdict.kind === 'usable' ? [] : [{ endpoint: verdict.endpoint, rejected: bounded(verdict.words) }];

const bounded = (words: string): string =>
  words.length <= REASON_LENGTH ? words : `${words.slice(0, REASON_LENGTH - 1)}…`;

/** Why nothing is left: by what is lasting unless an endpoint fell to its health alone. */
function refusalOf(
  verdicts: readonly Verdict[],
  candidates: readonly RejectedCandidate[],
  { policy, now }: ResolveInput,
): PolicyRefusal {
  const spoken = verdicts.filter(({ kind }) => kind !== 'api');
  if (spoken.length === 0) return { code: 'workload_unknown', why: 'other_api' };
  const retries = spoken.flatMap((verdict) => (verdict.kind === 'health' ? [verdict.retryAt ?? now] : []));
  if (retries.length > 0) {
    const retryAfter = secondsUntil(Math.min(...retries), now);
    return { code: 'no_compliant_endpoint', policy: policy.label, candidates, retryAfter };
  }
  const byModel = spoken.every(({ kind }) => kind === 'model');
  return { code: byModel ? 'model_not_allowed' : 'region_blocked', policy: policy.label, candidates };
}

function secondsUntil(at: number, now: number): number {
  const seconds = Math.ceil((at - now) / 1_000);
  if (Number.isNaN(seconds)) return RETRY_AFTER_S.most;
  return Math.min(Math.max(seconds, RETRY_AFTER_S.least), RETRY_AFTER_S.most);
}
