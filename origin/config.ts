import { resolve } from 'node:path';
import type { JSONWebKeySet } from 'jose';
import { err, ok, type Result } from '../shared/result.ts';
import type { Zone } from '../shared/zones.ts';
import type { Witness } from './audit/witness-client.ts';
import { type AdminAddress, adminOf } from './config/admin-address.ts';
import { readDocuments } from './config/documents.ts';
import type { Fault } from './config/fault.ts';
import { readEdgeKeys, readSigningKey, type SigningKey } from './config/keys.ts';
import { type Parts, readableParts } from './config/parts.ts';
import { findProblems } from './config/problems.ts';
import { originFileSchema } from './config/schema.ts';
import { findWarnings } from './config/warnings.ts';
import { witnessesOf } from './config/witnesses.ts';
import { readYaml, schemaFaults, type YamlFile } from './config/yaml-file.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { Secret } from './endpoints/secret.ts';
import type { Limits } from './limits.ts';
import type { LoadedPolicy } from './policy/document.ts';
import type { MatrixInput } from './policy/matrix.ts';
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
  readonly admin: AdminAddress;
  readonly store: StoreLocation;
  readonly edgeKeys: JSONWebKeySet;
  readonly signingKey: SigningKey;
  readonly logName: string;
  readonly witnesses: readonly Witness[];
  /** How many of them have to have cosigned; 0 where there are none. */
  readonly witnessQuorum: number;
  readonly registry: ReadonlyMap<string, Endpoint>;
  readonly policies: ReadonlyMap<string, LoadedPolicy>;
  readonly tenants: ReadonlyMap<string, TenantRecord>;
  readonly limits: Limits;
  /** What a person should mend although no call can go wrong by it: refused endpoints in a graph, dead locks. */
  readonly problems: readonly Fault[];
  /** What a person should know although it may be meant: failovers that change the model, longer retention. */
  readonly warnings: readonly Fault[];
}

/** What can be told of a configuration, whatever is wrong with it or missing on this machine. */
export interface Checked {
  readonly faults: readonly Fault[];
  /** What is missing on this machine to start by it, such as keys: nobody has to have them to check it. */
  readonly needed: readonly Fault[];
  /** Both are of the parts that have no fault. */
  readonly problems: readonly Fault[];
  readonly warnings: readonly Fault[];
  /** Those parts; undefined where the zone is not known. */
  readonly whole: MatrixInput | undefined;
  /** The configuration, where it has no fault and nothing is missing. */
  readonly config: OriginConfig | undefined;
}

/**
 * The configuration of an origin from its YAML file and the files that it names, with secrets from `env`, or
 * every fault that was found. Relative paths are relative to the file that holds them.
 */
export function loadConfig(file: string, env: NodeJS.ProcessEnv): Result<OriginConfig, readonly Fault[]> {
  const { config, faults, needed } = checkConfig(file, env);
  return config === undefined ? err([...faults, ...needed]) : ok(config);
}

/** The same, with all that can be told where it cannot be loaded. */
export function checkConfig(file: string, env: NodeJS.ProcessEnv): Checked {
  const nothing = { needed: [], problems: [], warnings: [], whole: undefined, config: undefined };
  const read = readYaml(resolve(file));
  if (!read.ok) return { ...nothing, faults: read.error };
  const yaml = read.value;
  const found: Fault[] = [];
  const form = originFileSchema.safeParse(yaml.value);
  if (!form.success) found.push(...schemaFaults(yaml, form.error));

  const parts = readableParts(yaml.value);
  const documents = readDocuments(yaml, parts, env, found);
  const keys = readKeys(yaml, parts, found);
  const admin = form.success ? adminOf(yaml, form.data, env, found) : undefined;
  const witnesses = form.success && witnessesOf(yaml, form.data, keys?.signingKey.privateKey, found);
  const all = once(found);
  const told = {
    faults: all.filter(({ toStart }) => toStart === undefined),
    needed: all.filter(({ toStart }) => toStart === true),
  };
  if (documents === undefined) return { ...nothing, ...told };
  const { whole, files } = documents;
  const judged = { problems: findProblems(whole, files), warnings: findWarnings(whole, files) };
  if (all.length > 0 || !form.success || !admin || !keys || !witnesses)
    return { ...told, ...judged, whole, config: undefined };

  const { jurisdiction, listen, store, log_name: logName, limits } = form.data;
  const { registry, policies, tenants } = whole;
  const own = { file: yaml.file, jurisdiction, listen, admin, logName, limits, registry, policies, tenants };
  const config = { ...own, ...keys, ...witnesses, ...judged, store: storeOf(store, yaml.file) };
  return { ...told, ...judged, whole, config };
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

function storeOf(store: string, file: string): StoreLocation {
  const path = /^sqlite:(.*)$/.exec(store)?.[1];
  return path === undefined
    ? { kind: 'postgres', url: new Secret(store) }
    : { kind: 'sqlite', file: beside(file, path) };
}
