import { type Policy, policySchema } from '../../../shared/policy.ts';

interface Graph {
  readonly endpoints: readonly [string, ...string[]];
  readonly health?: object;
}

/** A policy whose workloads have these graphs. */
export function policyOf(workloads: Readonly<Record<string, Graph>>): Policy {
  return policySchema.parse({
    policy: 'eu',
    version: '1',
    jurisdiction: 'eu',
    author: 'a.person',
    reviewer: 'b.person',
    allow: { countries: ['EEA'] },
    workloads: Object.fromEntries(
      Object.entries(workloads).map(
        ([
          workload,
          {
            endpoints: [primary, ...secondary],
            health,
          },
        ]) => [workload, { class: 'large', failover: { primary, secondary }, ...(health && { health }) }],
      ),
    ),
  });
}
