import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { keyHash } from '../admit/key.ts';
import { LOCAL_WORKLOADS, type LOCAL_ZONES, type LocalEndpoint } from './local-zones.ts';

type LocalZone = (typeof LOCAL_ZONES)[number];

export interface LocalOrigin {
  readonly zone: LocalZone;
  readonly ports: readonly [number, number];
  /** Base address of each endpoint's stand-in. */
  readonly providers: ReadonlyMap<string, string>;
  /** Plain gateway key of each tenant; only the hash is written. */
  readonly keys: ReadonlyMap<string, string>;
}

/** Writes the configuration of one built-in origin below a data folder; gives the file's path. */
export async function writeLocalConfig(data: string, origin: LocalOrigin): Promise<string> {
  const { zone } = origin.zone;
  const file = join(data, 'origins', `${zone}.yaml`);
  await write(file, configuration(origin));
  await write(join(data, 'policies', `${origin.zone.policy}.yaml`), policy(origin.zone));
  await write(join(data, 'tenants', `${zone}.yaml`), { tenants: tenants(origin) });
  return file;
}

async function write(file: string, document: object): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, stringify(document), { mode: 0o600 });
}

function configuration({ zone: local, ports: [port, adminPort], providers }: LocalOrigin): object {
  return {
    jurisdiction: local.zone,
    listen: { host: '127.0.0.1', port },
    admin: { host: '127.0.0.1', port: adminPort, token_env: 'RESIDENCY_ADMIN_TOKEN' },
    store: `sqlite:../${local.zone}.db`,
    edge_keys: '../keys/edge.jwks.json',
    signing_key: `../keys/${local.zone}.jwk.json`,
    log_name: `residency.local/${local.zone}`,
    endpoints: local.endpoints.map(({ id, api, region, facility, regionHeader }) => ({
      id,
      provider: api === 'anthropic' ? 'anthropic' : 'openai-compatible',
      region,
      facility,
      deployment: 'regional',
      base_url: `${providers.get(id) ?? ''}/v1`,
      ...(regionHeader !== undefined && { region_header: regionHeader }),
      models: Object.fromEntries(
        Object.entries(LOCAL_WORKLOADS).flatMap(([name, { model, apis }]) =>
          apis.includes(api) ? [[name, model]] : [],
        ),
      ),
    })),
    policies: [`../policies/${local.policy}.yaml`],
    tenants: `../tenants/${local.zone}.yaml`,
  };
}

function policy(local: LocalZone): object {
  return {
    policy: local.policy,
    version: '1.0.0',
    jurisdiction: local.zone,
    author: 'platform',
    reviewer: 'compliance',
    retention_days: 365,
    allow: { countries: local.countries, deployments: ['regional'] },
    workloads: Object.fromEntries(
      Object.entries(LOCAL_WORKLOADS).map(([name, { class: size, apis }]) => [
        name,
        { class: size, failover: failover(local.endpoints.filter(({ api }) => apis.includes(api))) },
      ]),
    ),
  };
}

function failover(endpoints: readonly LocalEndpoint[]): object {
  const [primary, ...secondary] = endpoints.map(({ id }) => id);
  return { primary, secondary, on_exhausted: 'fail_closed' };
}

const tenants = ({ zone, keys }: LocalOrigin): object =>
  Object.fromEntries(
    zone.tenants.map((id) => [
      id,
      {
        jurisdiction: zone.zone,
        policy: zone.policy,
        keys: [{ id: 'local', sha256: keyHash(keys.get(id) ?? '') }],
      },
    ]),
  );
