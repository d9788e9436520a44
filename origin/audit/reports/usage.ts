import { type PolicyInForce, policyLabel } from '../../../shared/policy-in-force.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import { attemptsIn } from './attempts.ts';
import type { Evidence } from './evidence.ts';
import { endpointOutside, modelOutside, regionOutside } from './outside.ts';

export const USE_KINDS = ['region', 'endpoint', 'model'] as const;
export type UseKind = (typeof USE_KINDS)[number];

/** What was used under one policy version, and how often. */
export interface Use {
  readonly kind: UseKind;
  readonly name: string;
  /** `name@version`; null where the record cites none, as one about a probe does not. */
  readonly policy: string | null;
  /** Attempts, and the first and last of them. */
  readonly count: number;
  readonly first: { readonly at: string; readonly request_id: string | null; readonly tenant: string | null };
  readonly last: { readonly at: string };
  readonly endpoints: readonly string[];
  /** Why the policy version does not have it; null where it does. */
  readonly outside: string | null;
  /** Whom to ask. */
  readonly owners: readonly string[];
}

interface Tally extends Use {
  count: number;
  last: { at: string };
  endpoints: string[];
}

/** Every region, endpoint and model that was used, held against the policy version that was in force at the time. */
export function usesIn(evidence: Evidence): readonly Use[] {
  const tallies = new Map<string, Tally>();
  for (const record of attemptsIn(evidence.records())) {
    const policy = evidence.policyOf(record);
    for (const { kind, name, outside } of usesOf(record, policy, evidence)) {
      const key = JSON.stringify([kind, name, record.policy_sha256 ?? null, outside ?? null]);
      const known = tallies.get(key);
      if (known === undefined) tallies.set(key, begun(kind, name, outside, record, policy, evidence));
      else count(known, record);
    }
  }
  return [...tallies.values()];
}

interface Used {
  readonly kind: UseKind;
  readonly name: string;
  readonly outside: string | undefined;
}

function usesOf(record: AuditRecord, policy: PolicyInForce | undefined, evidence: Evidence): readonly Used[] {
  const { endpoint = '', serving_region, provider_region, model } = record;
  const region = serving_region ?? provider_region ?? 'not labelled';
  return [
    { kind: 'region', name: region, outside: regionOutside(record, policy, evidence.declared) },
    { kind: 'endpoint', name: endpoint, outside: policy && endpointOutside(record, policy) },
    ...(model === undefined
      ? []
      : [{ kind: 'model', name: model, outside: policy && modelOutside(record, policy) } as const]),
  ];
}

function begun(
  kind: UseKind,
  name: string,
  outside: string | undefined,
  record: AuditRecord,
  policy: PolicyInForce | undefined,
  { policies }: Evidence,
): Tally {
  const { at, request_id = null, tenant = null, endpoint } = record;
  const asked = policy === undefined ? policies : [policy];
  return {
    ...{ kind, name, count: 1, outside: outside ?? null },
    policy: policy === undefined ? null : policyLabel(policy.document),
    first: { at, request_id, tenant },
    last: { at },
    endpoints: endpoint === undefined ? [] : [endpoint],
    owners: [...new Set(asked.flatMap(({ document }) => [document.author, document.reviewer]))],
  };
}

/** The first is the first by place; by clock it may not be. */
function count(tally: Tally, { at, endpoint }: AuditRecord): void {
  tally.count += 1;
  tally.last = { at };
  if (endpoint !== undefined && !tally.endpoints.includes(endpoint)) tally.endpoints.push(endpoint);
}
