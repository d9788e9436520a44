import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JWK } from 'jose';
import pino from 'pino';
import { stringify } from 'yaml';
import { keyHash } from '../../origin/admit/key.ts';
import { decodeRecord } from '../../origin/audit/encode.ts';
import { loadConfig, type OriginConfig } from '../../origin/config.ts';
import { type Provider, startProvider } from '../../origin/dev/provider.ts';
import { newGatewayKey } from '../../origin/keys/gateway-key.ts';
import { newSigningKey, writePrivateKey, writePublicKeys } from '../../origin/keys/signing-key.ts';
import type { Limits } from '../../origin/limits.ts';
import { type OriginSetup, type RunningOrigin, startOrigin } from '../../origin/main.ts';
import { openSqliteReader, openSqliteStore } from '../../origin/store/sqlite.ts';
import type { LogReader, Store } from '../../origin/store/store.ts';
import type { AuditRecord } from '../../shared/record.ts';
import type { Zone } from '../../shared/zones.ts';
import { unwatched } from './unwatched.ts';

/** One endpoint of a test zone; its stand-in is a programmable provider. */
export interface EndpointSpec {
  readonly id: string;
  readonly region: string;
  readonly provider?: 'openai-compatible' | 'anthropic' | 'azure-openai';
  /** Response header in which the endpoint says where it ran. */
  readonly regionHeader?: string;
  /** The endpoint's own credential, as its environment variable would hold it. */
  readonly credential?: string;
}

export interface TeamSpec {
  readonly allowed_regions?: readonly string[];
  readonly workloads?: readonly string[];
}

export interface TenantSpec {
  readonly id: string;
  readonly jurisdiction?: Zone;
  readonly state?: 'active' | 'moving' | 'suspended';
  readonly teams?: Record<string, TeamSpec>;
  /** Keys beside the first, which has the id `main`. */
  readonly keys?: readonly { readonly id: string; readonly team?: string; readonly revoked?: boolean }[];
}

export interface ZoneSpec {
  readonly zone: Zone;
  readonly edgeKey: JWK;
  readonly endpoints: readonly EndpointSpec[];
  readonly tenants: readonly TenantSpec[];
  readonly countries: readonly string[];
  /** Members of the policy beside those that follow from the rest. */
  readonly policy?: object;
  /** Members of the policy's `allow` beside the countries. */
  readonly allow?: object;
  /** Workloads and the class of each; every endpoint serves all of them, in the order of `endpoints`. */
  readonly workloads?: Readonly<Record<string, string>>;
  readonly limits?: Partial<Limits>;
  /** The `health` block of every workload; without it nothing is probed and no circuit changes. */
  readonly health?: object;
  readonly setup?: OriginSetup;
  /** Puts a store of the test's own before the real one. */
  readonly wrapStore?: (store: Store) => Store;
  /** Changes the loaded configuration to what no file may say. */
  readonly amend?: (config: OriginConfig) => OriginConfig;
}

export interface TestZone {
  readonly origin: RunningOrigin;
  readonly providers: ReadonlyMap<string, Provider>;
  /** Plain keys, by `<tenant>/<key id>`. */
  readonly keys: ReadonlyMap<string, string>;
  /** Every record of the zone's log, oldest first. */
  records(): Promise<AuditRecord[]>;
  recordsOf(requestId: string): Promise<AuditRecord[]>;
  /** Log lines of the origin so far. */
  readonly logLines: readonly string[];
  readonly folder: string;
  readonly configFile: string;
  provider(id: string): Provider;
  key(tenant: string, id?: string): string;
  /** Stops the origin and starts it anew over the same log. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Admin token of every test origin. */
export const ADMIN_TOKEN = 'test-admin-token-0123456789';

const credentialName = (endpoint: string): string =>
  `TEST_CREDENTIAL_${endpoint.toUpperCase().replaceAll('-', '_')}`;

const credentialsOf = (endpoints: readonly EndpointSpec[]): Record<string, string> =>
  Object.fromEntries(
    endpoints.flatMap(({ id, credential }) =>
      credential === undefined ? [] : [[credentialName(id), credential]],
    ),
  );

/** For tests that count what reaches a provider. */
const UNPROBED = { probe: 'none' };

/** The model id by which a test endpoint knows a workload. */
export const modelOf = (endpoint: string, workload: string): string => `${endpoint}.${workload}-20260101`;

/** Starts an origin in this process, over a configuration in a folder of its own, with its providers. */
export async function startZone(spec: ZoneSpec): Promise<TestZone> {
  const folder = await mkdtemp(join(tmpdir(), `residency-${spec.zone}-`));
  const providers = new Map<string, Provider>();
  for (const { id, region } of spec.endpoints)
    providers.set(id, await startProvider({ name: `${id} in ${region}` }));
  const keys = keysOf(spec.tenants);
  const configFile = await writeConfig(folder, spec, providers, keys);
  const logLines: string[] = [];
  const logger = pino({}, { write: (line: string) => logLines.push(line) });
  const start = async () => {
    const config = loadConfig(configFile, {
      ...process.env,
      TEST_ADMIN_TOKEN: ADMIN_TOKEN,
      ...credentialsOf(spec.endpoints),
    });
    if (!config.ok)
      throw new Error(config.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    const store = spec.wrapStore?.(await openSqliteStore({ path: join(folder, 'log.db'), zone: spec.zone }));
    return startOrigin(spec.amend?.(config.value) ?? config.value, {
      logger,
      ...(store && { store }),
      ...(spec.health === undefined && { watch: unwatched }),
      ...spec.setup,
    });
  };
  let origin = await start();
  let opening: Promise<LogReader> | undefined;
  const records = async () => {
    opening ??= openSqliteReader({ path: join(folder, 'log.db'), zone: spec.zone });
    const reader = await opening;
    const all: AuditRecord[] = [];
    for (let after = -1; ; ) {
      const page = await reader.after(after, 1_000);
      const last = page.at(-1);
      if (last === undefined) return all;
      all.push(...page.map(decodeRecord));
      after = last.seq;
    }
  };
  return {
    get origin() {
      return origin;
    },
    providers,
    keys,
    logLines,
    folder,
    configFile,
    records,
    recordsOf: async (requestId) => (await records()).filter(({ request_id }) => request_id === requestId),
    provider: (id) => required(providers.get(id), `no provider ${id}`),
    key: (tenant, id = 'main') => required(keys.get(`${tenant}/${id}`), `no key ${tenant}/${id}`),
    restart: async () => {
      await origin.close();
      origin = await start();
    },
    close: async () => {
      await (await opening)?.close();
      await origin.close();
      await Promise.all([...providers.values()].map((provider) => provider.close()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

function required<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new Error(message);
  return value;
}

export const keysOf = (tenants: readonly TenantSpec[]): Map<string, string> =>
  new Map(
    tenants.flatMap(({ id, keys = [] }) =>
      ['main', ...keys.map((key) => key.id)].map((key) => [`${id}/${key}`, newGatewayKey(id)] as const),
    ),
  );

export async function writeConfig(
  folder: string,
  spec: ZoneSpec,
  providers: ReadonlyMap<string, Provider>,
  keys: ReadonlyMap<string, string>,
): Promise<string> {
  const { d: _, ...edgePublic } = spec.edgeKey;
  await writePublicKeys(join(folder, 'edge.jwks.json'), [edgePublic]);
  await writePrivateKey(join(folder, 'origin.jwk.json'), (await newSigningKey()).private);
  const workloads = spec.workloads ?? { 'support-chat': 'large' };
  const [primary, ...secondary] = spec.endpoints.map(({ id }) => id);
  await yaml(folder, 'policy.yaml', {
    policy: `${spec.zone}-test`,
    version: '1.0.0',
    jurisdiction: spec.zone,
    author: 'author',
    reviewer: 'reviewer',
    ...spec.policy,
    allow: { countries: spec.countries, ...spec.allow },
    workloads: Object.fromEntries(
      Object.entries(workloads).map(([name, class_]) => [
        name,
        { class: class_, failover: { primary, secondary }, health: spec.health ?? UNPROBED },
      ]),
    ),
  });
  await yaml(folder, 'tenants.yaml', {
    tenants: Object.fromEntries(spec.tenants.map((tenant) => tenantEntry(tenant, spec, keys))),
  });
  return yaml(folder, 'origin.yaml', {
    jurisdiction: spec.zone,
    listen: { host: '127.0.0.1', port: 0 },
    admin: { host: '127.0.0.1', port: 0, token_env: 'TEST_ADMIN_TOKEN' },
    store: 'sqlite:log.db',
    edge_keys: 'edge.jwks.json',
    signing_key: 'origin.jwk.json',
    log_name: `residency.test/${spec.zone}`,
    endpoints: spec.endpoints.map(({ id, region, provider = 'openai-compatible', ...rest }) => ({
      id,
      provider,
      region,
      ...(rest.regionHeader !== undefined && { region_header: rest.regionHeader }),
      ...(rest.credential !== undefined && { credential_env: credentialName(id) }),
      deployment: 'regional',
      base_url: `${providers.get(id)?.url ?? ''}/v1`,
      models: Object.fromEntries(Object.keys(workloads).map((name) => [name, modelOf(id, name)])),
    })),
    policies: ['policy.yaml'],
    tenants: 'tenants.yaml',
    ...(spec.limits && { limits: spec.limits }),
  });
}

function tenantEntry(tenant: TenantSpec, spec: ZoneSpec, keys: ReadonlyMap<string, string>) {
  const key = (id: string) => ({ id, sha256: keyHash(keys.get(`${tenant.id}/${id}`) ?? '') });
  const entry = {
    jurisdiction: tenant.jurisdiction ?? spec.zone,
    policy: `${spec.zone}-test`,
    ...(tenant.state && { state: tenant.state }),
    ...(tenant.teams && { teams: tenant.teams }),
    keys: [key('main'), ...(tenant.keys ?? []).map(({ id, ...rest }) => ({ ...key(id), ...rest }))],
  };
  return [tenant.id, entry] as const;
}

async function yaml(folder: string, name: string, document: object): Promise<string> {
  const file = join(folder, name);
  await writeFile(file, stringify(document));
  return file;
}
