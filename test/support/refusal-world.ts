import { newGatewayKey } from '../../origin/keys/gateway-key.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import type { RecordKind } from '../../shared/record.ts';
import { type Answered, answerTo, chat, presented, type TestCall } from './calls.ts';
import { FaultyStore } from './faulty-store.ts';
import { startGateway, type TestGateway } from './gateway.ts';
import { assertionOf, type Wording } from './worded-assertion.ts';

/** Limits of the zone `eu` here, in bytes and calls: small, so that a test can reach them. */
export const EU_LIMITS = { body_bytes: 100_000, buffered_body_bytes: 500_000, concurrent_requests: 8 };

/** Limits of the zone `us` here, in ms. */
export const US_LIMITS = { time_to_first_byte_ms: 300, time_to_first_token_ms: 300, stream_idle_ms: 300 };

/** A caller of one of the two APIs, and the first endpoint that its calls reach. */
export interface Caller {
  readonly api: 'openai' | 'anthropic';
  readonly path: string;
  readonly endpoint: string;
}

export const CALLERS: readonly Caller[] = [
  { api: 'openai', path: '/v1/chat/completions', endpoint: 'fra' },
  { api: 'anthropic', path: '/v1/messages', endpoint: 'fra-messages' },
];

/** Text that stands for everything a caller says in confidence. */
export const SECRET_WORDS = 'MARKER-PROMPT';

/** A gateway with every kind of tenant that can be refused, and a log whose writes can be held up. */
export interface RefusalWorld {
  readonly gateway: TestGateway;
  readonly store: FaultyStore;
  /** A call to the edge with the headers given, and a body that holds the secret words. */
  ask(caller: Caller, requestId: string, call: TestCall): Promise<Answered>;
  /** A call straight to the origin `eu`, with an assertion for a tenant. */
  askOrigin(
    caller: Caller,
    requestId: string,
    headers: Record<string, string>,
    tenant?: string,
    wording?: Wording,
  ): Promise<Answered>;
  /** Headers of a tenant that is served in `eu`; of one of its other keys where that is named. */
  acme(keyId?: string): Record<string, string>;
  /** Headers of a tenant that no origin declares. */
  stranger(tenant: string, zone?: string): Record<string, string>;
  /** Names of the providers, of any zone, that were called since the last reset. */
  reached(): string[];
  reset(): void;
}

export async function startRefusalWorld(): Promise<RefusalWorld> {
  const stores: FaultyStore[] = [];
  const region = { region: 'eu-central-1', regionHeader: 'x-ran-in' };
  const gateway = await startGateway({
    edge: { zoneHosts: { ch: 'ch.ai.example' } },
    eu: {
      limits: { ...EU_LIMITS, ledger_ms: 400 },
      endpoints: [
        { id: 'fra', ...region },
        { id: 'dub', ...region, region: 'eu-west-1' },
        { id: 'fra-messages', ...region, provider: 'anthropic' },
      ],
      wrapStore: (inner) => {
        const store = new FaultyStore(inner);
        stores.push(store);
        return store;
      },
    },
    us: { limits: US_LIMITS, endpoints: [{ id: 'iad', region: 'us-east-1' }] },
  });
  const [store] = stores;
  if (store === undefined) throw new Error('the origin took no store');
  const { edge, eu, us, edgeKey } = gateway;
  await edge.putTenant('banned', { jurisdiction: 'eu', state: 'suspended', version: 2 });
  await edge.putTenant('mover', { jurisdiction: 'eu', state: 'moving', version: 2 });
  await edge.putTenant('nomad', { jurisdiction: 'eu', state: 'active', version: 1 });
  await edge.putTenant('jpco', { jurisdiction: 'jp', state: 'active', version: 1 });
  await edge.putTenant('chco', { jurisdiction: 'ch', state: 'active', version: 1 });
  await (await edge.entries()).put('tenant:broken', '{"jurisdiction":"eu","state":"act');
  const providers = [...eu.providers, ...us.providers];
  const confidential = chat('support-chat', SECRET_WORDS);
  const common = (requestId: string) => ({ 'content-type': 'application/json', 'x-request-id': requestId });
  return {
    gateway,
    store,
    ask: (caller, requestId, { headers, ...call }) =>
      answerTo(edge.url, caller.path, {
        body: confidential,
        ...call,
        headers: { ...common(requestId), ...headers },
      }),
    askOrigin: async (caller, requestId, headers, tenant = 'acme', wording = {}) => {
      const asserted = { zone: 'eu', tenant, target: caller.path } as const;
      const assertion = await assertionOf(edgeKey.private, asserted, wording);
      return answerTo(eu.origin.url, caller.path, {
        body: confidential,
        headers: { ...common(requestId), 'x-residency-assertion': assertion, ...headers },
      });
    },
    acme: (keyId) => presented('eu', eu.key('acme', keyId)),
    stranger: (tenant, zone = 'eu') => presented(zone, newGatewayKey(tenant)),
    reached: () => providers.filter(([, { receivedTotal }]) => receivedTotal > 0).map(([id]) => id),
    reset: () => {
      for (const [, provider] of providers) provider.reset();
    },
  };
}

/** One line of the error table: how to come by a refusal, and what is the answer and the record. */
export interface RefusalRow {
  readonly code: ErrorCode;
  readonly why: string;
  readonly ask: (world: RefusalWorld, caller: Caller, requestId: string) => Promise<Answered>;
  readonly status: number;
  readonly by: 'edge' | 'origin';
  /** The zone named in the answer; `eu` where left out, null where none can be. */
  readonly jurisdiction?: string | null;
  /** The tenant on record; none where left out. */
  readonly tenant?: string;
  readonly param?: string;
  readonly retryAfter?: number;
  readonly outcome?: 'failed';
  /** Kinds of the call's records; `refused` alone where left out. */
  readonly kinds?: (caller: Caller) => readonly RecordKind[];
  /** Providers that may have been called; none where left out. */
  readonly reached?: (caller: Caller) => readonly string[];
  /** Whether the answer says which policy decided, and about which endpoints. */
  readonly decided?: boolean;
  /** Callers that can come by it; both where left out. */
  readonly only?: Caller['api'];
}
