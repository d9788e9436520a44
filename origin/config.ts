import { resolve } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import { err, ok, type Result } from '../shared/result.ts';
import type { Zone } from '../shared/zones.ts';
import { secretFrom } from './config/environment.ts';
import type { Fault } from './config/fault.ts';
import { readEdgeKeys, readSigningKey, type SigningKey } from './config/keys.ts';
import { type Parts, readableParts } from './config/parts.ts';
import { type PolicyFile, readPolicies } from './config/policy-files.ts';
import { findProblems, findWarnings } from './config/problems.ts';
import { readRegistry } from './config/registry-file.ts';
import { type OriginFile, originFileSchema } from './config/schema.ts';
import { readTenants } from './config/tenants-file.ts';
import { readYaml, schemaFaults, type YamlFile } from './config/yaml-file.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { isLoopback } from './endpoints/registry.ts';
import { Secret } from './endpoints/secret.ts';
import type { Limits } from './limits.ts';
import type { LoadedPolicy } from './policy/document.ts';
import type { TenantRecord } from './policy/tenants.ts';

export type { Fault } from './config/fault.ts';
export type { SigningKey } from './config/keys.ts';

/** Where records are kept. A PostgreSQL URL holds a password and so is a secret. */
export type StoreLocation =
  | { readonly kind: 'sqlite'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: Secret };

/** The checked configuration of one origin. */
export interface OriginConfig {
  /** The YAML file it was read from. */
  readonly file: string;
  readonly jurisdiction: Zone;
  readonly listen: { readonly host: string; readonly port: number };
  readonly admin: { readonly host: string; readonly port: number; readonly token?: Secret };
  readonly store: StoreLocation;
  readonly edgeKeys: JSONWebKeySet;
  readonly signingKey: SigningKey;
  readonly logName: string;
  readonly registry: ReadonlyMap<string, Endpoint>;
  readonly policies: ReadonlyMap<string, LoadedPolicy>;
  readonly tenants: ReadonlyMap<string, TenantRecord>;
  readonly limits: Limits;
  /** What a person should mend although no call can go wrong by it: refused endpoints in a graph, dead locks. */
  readonly problems: readonly Fault[];
  /** What a person should know although it may be meant: failovers that change the model, longer retention. */
  readonly warnings: readonly Fault[];
}

/**
 * The configuration of an origin from its YAML file and the files that it names, with secrets from `env`, or
 * every fault that was found. Relative paths are relative to the file that holds them.
 */
export function loadConfig(file: string, env: NodeJS.ProcessEnv): Result<OriginConfig, readonly Fault[]> {
  const read = readYaml(resolve(file));
  if (!read.ok) return read;
  const yaml = read.value;
  const faults: Fault[] = [];
  const form = originFileSchema.safeParse(yaml.value);
  if (!form.success) faults.push(...schemaFaults(yaml, form.error));

  const documents = readDocuments(yaml, readableParts(yaml.value), env, faults);
  const keys = readKeys(yaml, readableParts(yaml.value), faults);
  const admin = form.success ? adminOf(yaml, form.data, env, faults) : undefined;
  if (faults.length > 0 || !form.success || !admin || !documents || !keys) return err(once(faults));

  const { jurisdiction, listen, store, log_name: logName, limits } = form.data;
  const { policyFiles, ...rest } = documents;
  const config = { file: yaml.file, jurisdiction, listen, admin, logName, limits, ...keys, ...rest };
  const problems = findProblems(config, policyFiles);
  const warnings = findWarnings(config, policyFiles);
  return ok({ ...config, store: storeOf(store, yaml.file), problems, warnings });
}

interface Documents extends Pick<OriginConfig, 'registry' | 'policies' | 'tenants'> {
  readonly policyFiles: readonly PolicyFile[];
}

function readDocuments(
  yaml: YamlFile,
  { zone, entries, ids, policies: files, tenants: tenantsFile }: Parts,
  env: NodeJS.ProcessEnv,
  faults: Fault[],
): Documents | undefined {
  if (zone === undefined) return undefined;
  const registry = readRegistry(yaml, entries, zone, env, faults);
  const policyFiles = readPolicies(yaml, files, { zone, registry, ids, faults });
  const policies = new Map(policyFiles.map(({ policy }) => [policy.name, policy]));
  if (tenantsFile === undefined) return { registry, policyFiles, policies, tenants: new Map() };
  const path = beside(yaml.file, tenantsFile);
  // A policy that could not be read has no name to compare with, and its own faults say enough.
  const names = policyFiles.length === files.length ? new Set(policies.keys()) : undefined;
  return { registry, policyFiles, policies, tenants: readTenants(path, zone, names, faults) };
}

function readKeys(
  yaml: YamlFile,
  parts: Parts,
  faults: Fault[],
): Pick<OriginConfig, 'edgeKeys' | 'signingKey'> | undefined {
  if (parts.edgeKeys === undefined || parts.signingKey === undefined) return undefined;
  const edgeKeys = readEdgeKeys(beside(yaml.file, parts.edgeKeys));
  const signingKey = readSigningKey(beside(yaml.file, parts.signingKey));
  if (!edgeKeys.ok) faults.push(...edgeKeys.error);
  if (!signingKey.ok) faults.push(...signingKey.error);
  if (!edgeKeys.ok || !signingKey.ok) return undefined;
  return { edgeKeys: edgeKeys.value, signingKey: signingKey.value };
}

const beside = (file: string, path: string): string => resolve(file, '..', path);

/** The same file may be named twice; its faults are told once. */
const once = (faults: readonly Fault[]): readonly Fault[] => [
  ...new Map(faults.map((fault) => [`${fault.path}\n${fault.message}`, fault])).values(),
];

function adminOf(
  yaml: YamlFile,
  { admin: { host, port, token_env: name }, listen }: OriginFile,
  env: NodeJS.ProcessEnv,
  faults: Fault[],
): OriginConfig['admin'] {
  const complain = (member: string, message: string) =>
    faults.push({ path: yaml.at(['admin', member]), message });
  if (port !== 0 && port === listen.port) complain('port', 'is the port of "listen" too: give it its own');
  if (name === undefined) {
    if (!isLoopback(host)) complain('host', 'can be reached from elsewhere: name a token with token_env');
    return { host, port };
  }
  const token = secretFrom(env, name);
  if (token.ok) return { host, port, token: token.value };
  complain('token_env', token.error);
  return { host, port };
}

function storeOf(store: string, file: string): StoreLocation {
  const path = /^sqlite:(.*)$/.exec(store)?.[1];
  return path === undefined
    ? { kind: 'postgres', url: new Secret(store) }
    : { kind: 'sqlite', file: beside(file, path) };
}
