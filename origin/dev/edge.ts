import type { JWK } from 'jose';
import { Miniflare, type MiniflareOptions, NoOpLog } from 'miniflare';
import { type TenantEntry, tenantEntryKey } from '../../shared/tenant.ts';
import type { Zone } from '../../shared/zones.ts';
import { type EdgeBundle, edgeBundle } from './edge-bundle.ts';
import { type Front, startFront } from './front.ts';

export interface EdgeOptions {
  /** On 127.0.0.1; 0 takes a free one. */
  readonly port: number;
  readonly origins: Readonly<Partial<Record<Zone, string>>>;
  readonly unattributedHome: Zone;
  /** Private Ed25519 key with a `kid`. */
  readonly signingKey: JWK;
  readonly zoneHosts?: Readonly<Partial<Record<Zone, string>>>;
  readonly pepper?: string;
  /** Folder that keeps the tenants' entries; in memory where there is none. */
  readonly kvFolder?: string;
  /** Told what the Worker and its runtime write to the console; the runtime's own faults may quote a URL. */
  readonly log?: (message: string) => void;
  /** Replaces single variables of the Worker, or leaves them out (`undefined`), to try a broken set-up. */
  readonly variables?: Readonly<Record<string, string | undefined>>;
  /** Source of a module whose default export makes the `TENANTS` binding instead of KV, to try a broken one. */
  readonly tenantsModule?: string;
}

type Entries = Awaited<ReturnType<Miniflare['getKVNamespace']>>;

export interface RunningEdge {
  readonly url: string;
  /** The runtime's own socket, without the front that notices when a caller hangs up. For measurements. */
  readonly runtimeUrl: () => string;
  /** Publishes a tenant's entry under the key that the edge will look for. */
  readonly putTenant: (id: string, entry: TenantEntry) => Promise<void>;
  /** The tenants' KV as it is, to write what no control plane would. */
  readonly entries: () => Promise<Entries>;
  /** Restarts the edge on the same port with some options changed. */
  readonly update: (changes: Partial<Omit<EdgeOptions, 'port'>>) => Promise<void>;
  readonly close: () => Promise<void>;
}

const EDGE = 'edge';
const HOST = '127.0.0.1';

/** Runs the production build of the edge in workerd on this machine. Ready when it resolves. */
export async function startEdge(options: EdgeOptions): Promise<RunningEdge> {
  const bundle = await edgeBundle();
  let current = options;
  const runtime = new Miniflare(runtimeOptions(bundle, current));
  const entries = () => runtime.getKVNamespace('TENANTS', EDGE);
  let direct: URL;
  let front: Front;
  try {
    direct = await runtime.unsafeGetDirectURL(EDGE);
    front = await startFront(HOST, options.port, () => direct);
  } catch (cause) {
    await runtime.dispose();
    throw cause;
  }
  return {
    url: `http://${HOST}:${front.port}`,
    runtimeUrl: () => direct.origin,
    entries,
    putTenant: async (id, entry) => {
      await (await entries()).put(await tenantEntryKey(id, current.pepper), JSON.stringify(entry));
    },
    update: async (changes) => {
      current = { ...current, ...changes };
      await runtime.setOptions(runtimeOptions(bundle, current));
      direct = await runtime.unsafeGetDirectURL(EDGE);
    },
    close: async () => {
      await front.close();
      await runtime.dispose();
    },
  };
}

/**
 * The Worker gets a socket of its own: Miniflare's front door adds headers, recodes answers, serves paths of its
 * own and logs requests.
 */
function runtimeOptions(bundle: EdgeBundle, options: EdgeOptions): MiniflareOptions {
  const { kvFolder, log } = options;
  return {
    host: HOST,
    port: 0,
    log: new NoOpLog(),
    logRequests: false,
    telemetry: { enabled: false },
    handleStructuredLogs: ({ message }: { message: string }) => {
      log?.(message);
    },
    cf: false,
    kvPersist: kvFolder ?? false,
    workers: [
      {
        name: EDGE,
        modules: [{ type: 'ESModule', path: 'worker.js', contents: bundle.script }],
        compatibilityDate: bundle.compatibilityDate,
        compatibilityFlags: [...bundle.compatibilityFlags],
        bindings: variablesOf(options),
        unsafeDirectSockets: [{ host: HOST, port: 0 }],
        ...(options.tenantsModule === undefined
          ? { kvNamespaces: { TENANTS: 'tenants' } }
          : { wrappedBindings: { TENANTS: 'tenants-double' } }),
      },
      ...doublesOf(options),
    ],
  };
}

function doublesOf({ tenantsModule }: EdgeOptions) {
  if (tenantsModule === undefined) return [];
  const module = { type: 'ESModule', path: 'tenants.js', contents: tenantsModule } as const;
  return [{ name: 'tenants-double', modules: [module] }];
}

function variablesOf(options: EdgeOptions): Record<string, string> {
  const variables: Record<string, string | undefined> = {
    ORIGINS: JSON.stringify(options.origins),
    UNATTRIBUTED_HOME: options.unattributedHome,
    EDGE_SIGNING_KEY: JSON.stringify(options.signingKey),
    ZONE_HOSTS: JSON.stringify(options.zoneHosts ?? {}),
    TENANT_KEY_PEPPER: options.pepper,
    ...options.variables,
  };
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}
