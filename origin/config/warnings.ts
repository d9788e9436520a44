import { exceptionLayer, layersOf } from '../../shared/policy-in-force.ts';
import { graphOf } from '../../shared/policy-rules.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { bestEvidence } from '../endpoints/region-evidence.ts';
import type { LoadedPolicy } from '../policy/document.ts';
import type { MatrixInput } from '../policy/matrix.ts';
import { disparities } from '../policy/parity.ts';
import type { Fault } from './fault.ts';
import type { PolicyFile } from './policy-files.ts';

interface Warning {
  readonly path: readonly (string | number)[];
  readonly message: string;
}

/**
 * What a person should know although it may be meant: failovers that change the model, records that a pack makes
 * last longer than the policy says, exceptions that narrow nobody, and streams that are always refused.
 */
export const findWarnings = (input: MatrixInput, files: readonly PolicyFile[]): readonly Fault[] =>
  files.flatMap(({ yaml, policy }) =>
    [
      // Where a pack forbids them they are faults.
      ...(policy.packs.some((pack) => pack.require_model_parity)
        ? []
        : disparities(policy, input.registry, input.jurisdiction)),
      ...lengthened(policy),
      ...narrowNobody(policy, input),
      ...refusedStreams(policy, input),
    ].map(({ path, message }) => ({ path: yaml.at(path), message })),
  );

function lengthened({ document, retentionDays }: LoadedPolicy): Warning[] {
  if (document.retention_days === retentionDays) return [];
  const message = `is shorter than a pack asks for: records are kept for ${retentionDays} days`;
  return [{ path: ['retention_days'], message }];
}

/** An exception is found by the tenant's name alone, so that one for a misspelt name does nothing. */
function narrowNobody({ document, name }: LoadedPolicy, { tenants }: MatrixInput): Warning[] {
  if (tenants.size === 0) return [];
  return Object.keys(document.tenants).flatMap((id) => {
    const tenant = tenants.get(id);
    if (tenant?.policy === name) return [];
    const why =
      tenant === undefined ? 'no tenant of that name is declared' : `it has the policy ${tenant.policy}`;
    return [{ path: ['tenants', id], message: `the exception narrows nobody: ${why}` }];
  });
}

/** A stream is refused whose first content comes before its evidence; a provider's own streams begin with it. */
function refusedStreams(policy: LoadedPolicy, { registry }: MatrixInput): Warning[] {
  const asking = [
    ...layersOf(policy),
    ...Object.keys(policy.document.tenants).flatMap((id) => exceptionLayer(policy, id) ?? []),
  ].find(({ allow }) => allow.region_evidence === 'response_body');
  if (asking === undefined) return [];
  return Object.entries(policy.document.workloads).flatMap(([workload, { failover }]) =>
    graphOf(failover)
      .filter(({ endpoint }) => showsInBodiesAlone(registry.get(endpoint)))
      .map(({ endpoint: id, path }) => ({
        path: ['workloads', workload, 'failover', ...path],
        message: `${id} shows its region in bodies alone, for which ${asking.by} asks: each stream is refused that does not show it before its first content`,
      })),
  );
}

const showsInBodiesAlone = (endpoint: Endpoint | undefined): boolean =>
  endpoint !== undefined && endpoint.pin === undefined && bestEvidence(endpoint) === 'response_body';
