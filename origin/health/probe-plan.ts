import type { Policy } from '../../shared/policy.ts';
import { graphOf } from '../../shared/policy-rules.ts';
import { PROBE_TOKENS, type ProbeModel } from './probe-request.ts';

/** One endpoint that is probed, by the model of one of its workloads. */
export interface ProbeTarget extends Required<ProbeModel> {
  readonly endpoint: string;
  readonly workload: string;
  readonly intervalMs: number;
}

/**
 * The model that an endpoint serves a workload with, or undefined where the policy lets it serve that workload
 * for nobody at all. What a policy shuts out is not even asked whether it is alive.
 */
export type MayServe = (endpoint: string, workload: string, policy: Policy) => ProbeModel | undefined;

/**
 * The endpoints to probe: those that a graph names and its policy allows, of workloads that ask for probes. One
 * that several name is probed once, for the workload with the shortest interval.
 */
export function probePlan(policies: Iterable<Policy>, mayServe: MayServe): readonly ProbeTarget[] {
  const plan = new Map<string, ProbeTarget>();
  for (const policy of policies) {
    for (const [workload, { failover, health }] of Object.entries(policy.workloads)) {
      if (health.probe === 'none') continue;
      const intervalMs = health.interval_seconds * 1_000;
      for (const { endpoint } of graphOf(failover)) {
        const model = mayServe(endpoint, workload, policy);
        if (model === undefined || (plan.get(endpoint)?.intervalMs ?? Infinity) <= intervalMs) continue;
        plan.set(endpoint, { tokens: PROBE_TOKENS, ...model, endpoint, workload, intervalMs });
      }
    }
  }
  return [...plan.values()];
}
