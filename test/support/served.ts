import { expect, vi } from 'vitest';
import type { Provider, Received } from '../../origin/dev/provider.ts';
import type { AuditRecord } from '../../shared/record.ts';
import type { TestGateway } from './gateway.ts';
import { modelOf, type TestZone } from './zone.ts';

/** What may reach an endpoint of a caller's headers, and what any HTTP request has. */
const HEADERS_UP = new Set([
  ...['content-type', 'content-length', 'accept', 'idempotency-key', 'traceparent', 'user-agent'],
  ...['anthropic-version', 'anthropic-beta', 'openai-beta', 'host', 'connection'],
]);

/** Every request that reached a provider, in whatever zone. */
export const reached = (gateway: TestGateway): { readonly endpoint: string; readonly request: Received }[] =>
  [gateway.eu, gateway.us].flatMap(({ providers }) =>
    [...providers].flatMap(([endpoint, { received }]) => received.map((request) => ({ endpoint, request }))),
  );

/** Forgets orders and requests of every provider. */
export function resetProviders(gateway: TestGateway): void {
  const providers: Provider[] = [gateway.eu, gateway.us].flatMap((zone) => [...zone.providers.values()]);
  for (const provider of providers) provider.reset();
}

const isEnd = ({ kind }: AuditRecord): boolean => kind !== 'pending' && kind !== 'served';

/** The records of a call, once its last attempt has its end: a caller may have its answer a little before. */
export const endedRecords = (zone: TestZone, requestId: string): Promise<AuditRecord[]> =>
  vi.waitFor(
    async () => {
      const records = await zone.recordsOf(requestId);
      const open = records.filter(
        ({ kind, id }) => kind === 'pending' && !records.some((end) => isEnd(end) && end.pending_id === id),
      );
      if (records.length === 0 || open.length > 0) throw new Error('the call has no end on record');
      return records;
    },
    { timeout: 5_000, interval: 5 },
  );

export interface Served {
  /** Headers of the answer. */
  readonly headers: Headers;
  /** Body as the client sent it, where it was JSON; it names the workload as `"<workload>"`. */
  readonly sent?: string;
  readonly endpoint: 'fra' | 'fra-messages';
  readonly route: string;
  readonly workload?: string;
  readonly streamed?: boolean;
  /** As the provider reported them. */
  readonly tokens?: { readonly input: number | null; readonly output: number | null };
}

/**
 * Checks all that holds for a call of `acme` served at its first attempt: what its headers say, its records,
 * what reached the one endpoint, and that nothing reached any other. Gives what reached the endpoint.
 */
export async function expectServed(gateway: TestGateway, served: Served): Promise<Received> {
  const { endpoint, route, workload = 'support-chat' } = served;
  const requestId = served.headers.get('x-request-id') ?? '';
  expect(Object.fromEntries(served.headers)).toMatchObject({
    'x-residency-outcome': 'served',
    'x-residency-decided-by': 'origin',
    'x-residency-jurisdiction': 'eu',
    'x-residency-policy': 'eu-test@1.0.0',
    'x-residency-endpoint': endpoint,
    'x-residency-region': 'eu-central-1',
    'x-residency-region-source': 'declared',
    'x-residency-attempts': '1',
    'x-residency-receipt': expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
  });

  const common = {
    request_id: requestId,
    tenant: 'acme',
    key_id: 'main',
    route,
    workload,
    endpoint,
    provider_region: 'eu-central-1',
    model: modelOf(endpoint, workload),
    policy: 'eu-test',
    policy_version: '1.0.0',
    attempt: 1,
  };
  const observed = {
    ...common,
    serving_region: 'eu-central-1',
    region_source: 'declared',
    streamed: served.streamed ?? false,
    upstream_status: 200,
    ttft_ms: expect.any(Number),
  };
  expect(await endedRecords(gateway.eu, requestId)).toMatchObject([
    { kind: 'pending', ...common },
    { kind: 'served', ...observed },
    {
      kind: 'completed',
      ...observed,
      status: 200,
      ...(served.tokens && { input_tokens: served.tokens.input, output_tokens: served.tokens.output }),
    },
  ]);

  const [arrival, ...others] = reached(gateway);
  expect([arrival?.endpoint, others.length]).toEqual([endpoint, 0]);
  if (arrival === undefined) throw new Error('nothing reached an endpoint');
  expectForwarded(gateway, arrival.request, served, modelOf(endpoint, workload));
  return arrival.request;
}

function expectForwarded(
  gateway: TestGateway,
  request: Received,
  { sent, route, workload }: Served,
  model: string,
) {
  expect([request.path, request.query]).toEqual([route, '']);
  expect(request.model).toBe(model);
  if (sent !== undefined) {
    expect(request.body.toString('utf8')).toBe(
      sent.replace(`"model":"${workload ?? 'support-chat'}"`, `"model":"${model}"`),
    );
  }
  expect(request.headers.map(([name]) => name.toLowerCase()).filter((name) => !HEADERS_UP.has(name))).toEqual(
    [],
  );
  const everything = `${JSON.stringify(request.headers)}${request.body.toString('latin1')}`;
  for (const key of gateway.eu.keys.values()) expect(everything).not.toContain(key);
}

export interface Sent {
  /** Bodies that were sent as text, oldest first. */
  readonly bodies: readonly string[];
  readonly responses: readonly Response[];
  readonly fetch: typeof fetch;
}

/** A `fetch` for an SDK that writes down what the SDK sends and gets. */
export function recordingFetch(): Sent {
  const bodies: string[] = [];
  const responses: Response[] = [];
  return {
    bodies,
    responses,
    fetch: async (input, init) => {
      if (typeof init?.body === 'string') bodies.push(init.body);
      const response = await fetch(input, init);
      responses.push(response);
      return response;
    },
  };
}

/** What a call was refused with, or undefined where it was not. */
export const errorOf = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => undefined,
    (error: unknown) => error,
  );
