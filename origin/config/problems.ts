import { graphOf } from '../../shared/policy-rules.ts';
import { type MatrixInput, type MatrixRow, matrix } from '../policy/matrix.ts';
import { lastingRejection } from '../policy/standing.ts';
import type { Fault } from './fault.ts';
import type { PolicyFile } from './policy-files.ts';

/**
 * What a person should mend although no call can go to a wrong place by it: endpoints that stand in a graph
 * but that the policy itself rejects, and subjects whom a narrowing leaves nothing.
 */
export const findProblems = (input: MatrixInput, files: readonly PolicyFile[]): readonly Fault[] => [
  ...files.flatMap((file) => deadSteps(input, file)),
  ...matrix(input).flatMap((row) => nothingLeft(row, files)),
];

function deadSteps({ jurisdiction: zone, registry }: MatrixInput, { yaml, policy }: PolicyFile): Fault[] {
  return Object.entries(policy.document.workloads).flatMap(([workload, { failover }]) =>
    graphOf(failover).flatMap(({ endpoint: id, path }) => {
      const endpoint = registry.get(id);
      const everyone = { zone, policy, tenant: '', team: undefined };
      const rejected = endpoint && lastingRejection(endpoint, workload, everyone);
      if (rejected === undefined) return [];
      return [
        {
          path: yaml.at(['workloads', workload, 'failover', ...path]),
          message: `${id} never serves ${workload}: ${rejected.words}`,
        },
      ];
    }),
  );
}

function nothingLeft(
  { policy, subject, workload, api, refusal }: MatrixRow,
  files: readonly PolicyFile[],
): Fault[] {
  // A list of workloads that leaves this one out is meant to: only an empty set of places is a surprise.
  if (refusal !== 'region_blocked') return [];
  const { yaml } = files.find((file) => file.policy === policy) ?? {};
  const path = subject.team
    ? []
    : subject.tenant === undefined
      ? ['workloads', workload]
      : ['tenants', subject.tenant];
  const who = [subject.tenant && `tenant ${subject.tenant}`, subject.team && `team ${subject.team.name}`];
  const named = who.filter((part) => part !== undefined).join(', ') || 'every tenant';
  return [
    {
      path: yaml?.at(path) ?? policy.label,
      message: `${workload} (${api} API) is always refused for ${named}: no endpoint is left`,
    },
  ];
}
