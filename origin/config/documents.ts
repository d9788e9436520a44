import { resolve } from 'node:path';
import type { MatrixInput } from '../policy/matrix.ts';
import type { TenantRecord } from '../policy/tenants.ts';
import type { Fault } from './fault.ts';
import type { Parts } from './parts.ts';
import { type PolicyFile, readPolicies } from './policy-files.ts';
import { readRegistry } from './registry-file.ts';
import { readTenants } from './tenants-file.ts';
import type { YamlFile } from './yaml-file.ts';

/** The registry, policies and tenants of an origin's file, as far as they have no fault. */
export interface Documents {
  readonly whole: MatrixInput;
  /** Those of the policies that are whole. */
  readonly files: readonly PolicyFile[];
}

/** What is wrong with them goes to `faults`. Undefined where the zone is not known, by which they are judged. */
export function readDocuments(
  yaml: YamlFile,
  { zone, entries, ids, regions, policies: named, tenants: tenantsFile }: Parts,
  env: NodeJS.ProcessEnv,
  faults: Fault[],
): Documents | undefined {
  if (zone === undefined) return undefined;
  const { endpoints, faulty } = readRegistry(yaml, entries, zone, env, faults);
  const read = readPolicies(yaml, named, { zone, registry: endpoints, ids, regions, faults });
  const tenants =
    tenantsFile === undefined
      ? new Map<string, TenantRecord>()
      : readTenants(resolve(yaml.file, '..', tenantsFile), zone, read.names, faults);
  const registry = new Map([...endpoints].filter(([id]) => !faulty.has(id)));
  const files = read.files.filter(({ whole }) => whole);
  const policies = new Map(files.map(({ policy }) => [policy.name, policy]));
  const inDoubt = new Set([...ids].filter((id) => !registry.has(id)));
  return { whole: { jurisdiction: zone, registry, policies, tenants, inDoubt }, files };
}
