import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { JWK } from 'jose';
import type { Zone } from '../../shared/zones.ts';
import { loadConfig, type OriginConfig } from '../config.ts';
import { forgetStack, readStack, type StackFile, writeStack } from '../control/stack-file.ts';
import { newGatewayKey } from '../keys/gateway-key.ts';
import { publicHalf, writePublicKeys } from '../keys/signing-key.ts';
import { UsageFault } from '../usage-fault.ts';
import type { RunningEdge } from './edge.ts';
import { writeLocalConfig } from './local-config.ts';
import { localSigningKey, makeMissingKeys } from './local-keys.ts';
import { edgeOn, free, isRunning } from './local-places.ts';
import { LOCAL_ZONES } from './local-zones.ts';
import { type OriginProcess, startOriginProcess } from './origin-process.ts';
import { type Provider, startProvider } from './provider.ts';

export interface LaunchOptions {
  /** Folder for keys, databases, logs and `stack.json`. */
  readonly data: string;
  /** Of the edge; 0 takes a free one, and then free ones for the origins too. */
  readonly port: number;
  /** Configurations to run instead of the built-in ones. */
  readonly origins: readonly string[];
}

export interface Stack {
  readonly file: StackFile;
  readonly edge: RunningEdge;
  readonly origins: ReadonlyMap<Zone, LocalOriginProcess>;
  readonly providers: ReadonlyMap<string, Provider>;
  stop(): Promise<void>;
}

/**
 * Runs the whole stack on this machine: the edge in workerd, an origin process for each zone, and, with the
 * built-in configurations, a programmable provider for each endpoint. Rejects with UsageFault where a
 * configuration cannot be used.
 */
export async function launch(options: LaunchOptions): Promise<Stack> {
  const { data } = options;
  await mkdir(data, { recursive: true, mode: 0o700 });
  const before = await readStack(data).catch(() => undefined);
  if (before && (await isRunning(before))) {
    throw new UsageFault(`a stack runs in ${data} already: stop it, or use --data DIR --port 0 for another`);
  }
  await forgetStack(data);
  const stack = new Launching(data);
  try {
    await stack.makeEdgeKey();
    if (options.origins.length === 0) await stack.addBuiltIn(options.port, before);
    for (const file of options.origins) await stack.addOrigin(file);
    await stack.startEdge(options.port);
    return await stack.ready();
  } catch (cause) {
    await stack.stop();
    throw cause;
  }
}

export interface LocalOriginProcess extends OriginProcess {
  readonly token: string;
  readonly config: OriginConfig;
}

class Launching {
  readonly #data: string;
  readonly #providers = new Map<string, Provider>();
  readonly #origins = new Map<Zone, LocalOriginProcess>();
  /** Plain keys, where this stack made them. */
  readonly #keys = new Map<string, string>();
  #edgeKey: JWK = { kty: 'OKP' };
  #edge: RunningEdge | undefined;

  constructor(data: string) {
    this.#data = data;
  }

  async makeEdgeKey(): Promise<void> {
    this.#edgeKey = await localSigningKey(join(this.#data, 'keys', 'edge.jwk.json'));
    await writePublicKeys(join(this.#data, 'keys', 'edge.jwks.json'), [publicHalf(this.#edgeKey)]);
  }

  async addBuiltIn(port: number, before: StackFile | undefined): Promise<void> {
    for (const zone of LOCAL_ZONES) {
      for (const { id, region, regionHeader: header } of zone.endpoints) {
        const report = header === undefined ? {} : { region: { header, value: region } };
        this.#providers.set(id, await startProvider({ name: `${id} in ${region}`, ...report }));
      }
      for (const tenant of zone.tenants) {
        const known = before?.tenants.find(({ id }) => id === tenant)?.key;
        this.#keys.set(tenant, known ?? newGatewayKey(tenant));
      }
      const [publicPort, adminPort] = zone.ports;
      const ports =
        port === 0 ? ([0, 0] as const) : ([await free(publicPort), await free(adminPort)] as const);
      const providers = new Map([...this.#providers].map(([id, { url }]) => [id, url]));
      await this.addOrigin(await writeLocalConfig(this.#data, { zone, ports, providers, keys: this.#keys }));
    }
  }

  /** Makes the keys that a configuration names and that do not exist yet, then runs it. */
  async addOrigin(file: string): Promise<void> {
    const { tokenName } = await makeMissingKeys(file, this.#edgeKey);
    const token = process.env[tokenName] ?? randomBytes(24).toString('base64url');
    const environment = { [tokenName]: token };
    const config = loadConfig(file, { ...process.env, ...environment });
    if (!config.ok)
      throw new UsageFault(config.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
    const zone = config.value.jurisdiction;
    if (this.#origins.has(zone))
      throw new UsageFault(`${file}: the stack has an origin of the zone ${zone} already`);
    if (!config.value.edgeKeys.keys.some(({ kid }) => kid === this.#edgeKey.kid)) {
      const own = join(this.#data, 'keys', 'edge.jwks.json');
      throw new UsageFault(
        `${file}: edge_keys does not hold the key of this stack's edge; point it to ${own}`,
      );
    }
    const origin = await startOriginProcess(file, join(this.#data, 'logs', `${zone}.log`), environment);
    this.#origins.set(zone, { ...origin, token, config: config.value });
  }

  async startEdge(port: number): Promise<void> {
    const [home] = this.#origins.keys();
    if (home === undefined) throw new UsageFault('there is no origin to run');
    this.#edge = await edgeOn({
      port,
      origins: Object.fromEntries([...this.#origins].map(([zone, { url }]) => [zone, url])),
      unattributedHome: home,
      signingKey: this.#edgeKey,
    });
    for (const { config } of this.#origins.values()) {
      for (const { id, jurisdiction, state } of config.tenants.values()) {
        await this.#edge.putTenant(id, { jurisdiction, state: state ?? 'active', version: 1 });
      }
    }
  }

  async ready(): Promise<Stack> {
    const edge = this.#edge;
    if (edge === undefined) throw new Error('the edge has not been started');
    const tenants = [...this.#origins.values()].flatMap(({ config }) =>
      [...config.tenants.values()].map(({ id, jurisdiction }) => {
        const key = this.#keys.get(id);
        return { id, jurisdiction, ...(key !== undefined && { key }) };
      }),
    );
    const file: StackFile = {
      edge: edge.url,
      origins: Object.fromEntries(
        [...this.#origins].map(([zone, { url, admin, token }]) => [zone, { url, admin, admin_token: token }]),
      ),
      tenants,
      providers: Object.fromEntries([...this.#providers].map(([id, { url }]) => [id, url])),
    };
    await writeStack(this.#data, file);
    return { file, edge, origins: this.#origins, providers: this.#providers, stop: () => this.stop() };
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#origins.values()].map((origin) => origin.stop()));
    await this.#edge?.close();
    await Promise.all([...this.#providers.values()].map((provider) => provider.close()));
  }
}
