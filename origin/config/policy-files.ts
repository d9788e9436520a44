import { resolve } from 'node:path';
import { cloudRegion } from '../../shared/catalogue.ts';
import { checkPacks } from '../../shared/pack-rules.ts';
import { policySchema } from '../../shared/policy.ts';
import { checkPolicy, graphOf } from '../../shared/policy-rules.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type LoadedPolicy, loadedPolicy } from '../policy/document.ts';
import { disparities } from '../policy/parity.ts';
import type { Fault } from './fault.ts';
import { readPacks } from './pack-files.ts';
import { readYamlAs, type YamlFile } from './yaml-file.ts';

/** A policy and the file it was read from. */
export interface PolicyFile {
  readonly yaml: YamlFile;
  readonly policy: LoadedPolicy;
}

export interface PolicyContext {
  readonly zone: Zone;
  readonly registry: ReadonlyMap<string, Endpoint>;
  /** Ids of all entries of the registry, those with faults too. */
  readonly ids: ReadonlySet<string>;
  readonly faults: Fault[];
}

/** The policies that an origin's file names; what is wrong with them goes to `faults`. */
export function readPolicies(
  origin: YamlFile,
  files: readonly string[],
  context: PolicyContext,
): PolicyFile[] {
  const read: PolicyFile[] = [];
  for (const [index, file] of files.entries()) {
    const found = readPolicy(resolve(origin.file, '..', file), context);
    if (found === undefined) continue;
    if (read.some(({ policy }) => policy.name === found.policy.name)) {
      const message = `two files hold the policy ${found.policy.name}: name one version only`;
      context.faults.push({ path: origin.at(['policies', index]), message });
    } else read.push(found);
  }
  return read;
}

function readPolicy(file: string, { zone, registry, ids, faults }: PolicyContext): PolicyFile | undefined {
  const parsed = readYamlAs(file, policySchema);
  if (!parsed.ok) {
    faults.push(...parsed.error);
    return undefined;
  }
  const { yaml, value } = parsed.value;
  const packs = readPacks(value.packs, faults);
  if (packs === undefined) return undefined;
  const policy = loadedPolicy(value, yaml.bytes, packs);
  const broken = [...checkPolicy(value), ...checkPacks(value, policy.packs)];
  if (policy.packs.some((pack) => pack.require_model_parity)) {
    broken.push(...disparities(policy, registry, zone));
  }
  for (const { path, message } of broken) faults.push({ path: yaml.at(path), message });
  if (value.jurisdiction !== zone) {
    const message = `the policy is of ${value.jurisdiction}, this origin of ${zone}: each zone has its own policies`;
    faults.push({ path: yaml.at(['jurisdiction']), message });
  }
  faults.push(...unknownEndpoints(yaml, policy, ids), ...unknownRegions(yaml, policy, registry));
  return { yaml, policy };
}

function unknownEndpoints(yaml: YamlFile, { document }: LoadedPolicy, ids: ReadonlySet<string>): Fault[] {
  return Object.entries(document.workloads).flatMap(([workload, { failover }]) =>
    graphOf(failover)
      .filter(({ endpoint }) => !ids.has(endpoint))
      .map(({ endpoint, path }) => ({
        path: yaml.at(['workloads', workload, 'failover', ...path]),
        message: `the graph names ${endpoint}, which is not in the registry`,
      })),
  );
}

function unknownRegions(
  yaml: YamlFile,
  { document }: LoadedPolicy,
  registry: ReadonlyMap<string, Endpoint>,
): Fault[] {
  const own = new Set([...registry.values()].map(({ region }) => region));
  const lists = [
    { path: ['allow', 'regions'], regions: document.allow.regions },
    ...Object.entries(document.tenants).map(([tenant, { allow }]) => ({
      path: ['tenants', tenant, 'allow', 'regions'],
      regions: allow.regions ?? [],
    })),
  ];
  return lists.flatMap(({ path, regions }) =>
    regions.flatMap((region, index) => {
      if (own.has(region) || cloudRegion(region) !== undefined) return [];
      const message = `${region} is a region of neither the catalogue nor the registry`;
      return [{ path: yaml.at([...path, index]), message }];
    }),
  );
}
