import { resolve } from 'node:path';
import { z } from 'zod';
import { cloudRegion } from '../../shared/catalogue.ts';
import { packLabel } from '../../shared/pack.ts';
import { checkPacks } from '../../shared/pack-rules.ts';
import { type Policy, policySchema } from '../../shared/policy.ts';
import { checkMembers, checkPolicy, graphOf } from '../../shared/policy-rules.ts';
import { POLICY_STREAM_BYTES } from '../../shared/policy-stream.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { type LoadedPolicy, loadedPolicy } from '../policy/document.ts';
import { disparities } from '../policy/parity.ts';
import type { Fault } from './fault.ts';
import { readLeniently } from './lenient-file.ts';
import { readPacks } from './pack-files.ts';
import type { YamlFile } from './yaml-file.ts';

/** A policy and the file it was read from. */
export interface PolicyFile {
  readonly yaml: YamlFile;
  readonly policy: LoadedPolicy;
  /** Whether no fault was found in it. */
  readonly whole: boolean;
}

export interface PolicyContext {
  readonly zone: Zone;
  readonly registry: ReadonlyMap<string, Endpoint>;
  /** Ids and regions of all entries of the registry, those with faults too. */
  readonly ids: ReadonlySet<string>;
  readonly regions: ReadonlySet<string>;
  readonly faults: Fault[];
}

export interface ReadPolicies {
  readonly files: readonly PolicyFile[];
  /** Names of all of them, those with faults too; undefined where one cannot be told. */
  readonly names: ReadonlySet<string> | undefined;
}

/** The policies that an origin's file names; what is wrong with them goes to `faults`. */
export function readPolicies(
  origin: YamlFile,
  files: readonly string[],
  context: PolicyContext,
): ReadPolicies {
  const read: PolicyFile[] = [];
  const names: (string | undefined)[] = [];
  for (const [index, file] of files.entries()) {
    const { name, found } = readPolicy(resolve(origin.file, '..', file), context);
    if (name !== undefined && names.includes(name)) {
      const message = `two files hold the policy ${name}: name one version only`;
      context.faults.push({ path: origin.at(['policies', index]), message });
    } else if (found !== undefined) read.push(found);
    names.push(name);
  }
  const known = names.filter((name) => name !== undefined);
  return { files: read, names: known.length === files.length ? new Set(known) : undefined };
}

const namedSchema = z.object({ policy: z.string() });

interface Found {
  readonly name?: string | undefined;
  readonly found?: PolicyFile;
}

function readPolicy(file: string, context: PolicyContext): Found {
  const { faults } = context;
  const before = faults.length;
  const read = readLeniently(file, policySchema, faults);
  if (read === undefined) return {};
  const { yaml, value, partial } = read;
  const name = namedSchema.safeParse(yaml.value).data?.policy;
  if (value === undefined) return { name };
  faults.push(...faultsAlone(yaml, value, partial, context));
  const packs = readPacks(value.packs, faults);
  if (partial || packs === undefined) return { name };
  const policy = loadedPolicy(value, yaml.bytes, packs);
  faults.push(...faultsWithPacks(yaml, policy, context));
  return { name, found: { yaml, policy, whole: faults.length === before } };
}

/** What is wrong with a document by itself and beside the origin's file. */
function faultsAlone(
  yaml: YamlFile,
  document: Policy,
  partial: boolean,
  { zone, ids, regions }: PolicyContext,
): Fault[] {
  // Where members are left out, rules that compare some with others would find what is not there.
  const broken = partial ? checkMembers(document) : checkPolicy(document);
  const foreign = `the policy is of ${document.jurisdiction}, this origin of ${zone}: each zone has its own policies`;
  return [
    ...broken.map(({ path, message }) => ({ path: yaml.at(path), message })),
    ...(document.jurisdiction === zone ? [] : [{ path: yaml.at(['jurisdiction']), message: foreign }]),
    ...unknownEndpoints(yaml, document, ids),
    ...unknownRegions(yaml, document, regions),
  ];
}

function faultsWithPacks(yaml: YamlFile, policy: LoadedPolicy, { registry, zone }: PolicyContext): Fault[] {
  const broken: { path: readonly (string | number)[]; message: string }[] = [
    ...checkPacks(policy.document, policy.packs),
  ];
  const strict = policy.packs.find((pack) => pack.require_model_parity);
  if (strict !== undefined) {
    for (const { path, message } of disparities(policy, registry, zone)) {
      broken.push({ path, message: `${message}, which the pack ${packLabel(strict)} forbids` });
    }
  }
  // What an auditor's verifier would not read must not come into force.
  if (policy.stream.length > POLICY_STREAM_BYTES) {
    broken.push({ path: [], message: `with its packs it is larger than ${POLICY_STREAM_BYTES} bytes` });
  }
  return broken.map(({ path, message }) => ({ path: yaml.at(path), message }));
}

function unknownEndpoints(yaml: YamlFile, document: Policy, ids: ReadonlySet<string>): Fault[] {
  return Object.entries(document.workloads).flatMap(([workload, { failover }]) =>
    graphOf(failover)
      .filter(({ endpoint }) => !ids.has(endpoint))
      .map(({ endpoint, path }) => ({
        path: yaml.at(['workloads', workload, 'failover', ...path]),
        message: `the graph names ${endpoint}, which is not in the registry`,
      })),
  );
}

function unknownRegions(yaml: YamlFile, document: Policy, own: ReadonlySet<string>): Fault[] {
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
