import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { OrderInput, PausePoint, Received } from '../../origin/dev/provider.ts';
import type { Store } from '../../origin/store/store.ts';
import { chat, presented } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, directHeaders, resetZone, TWO_OF_EACH } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { endedRecords } from '../support/served.ts';

let gateway: TestGateway;
let direct: DirectOrigin;
let store: FaultyStore;

beforeAll(async () => {
  const wrapStore = (inner: Store) => {
    store = new FaultyStore(inner);
    return store;
  };
  gateway = await startGateway({ eu: { endpoints: TWO_OF_EACH, wrapStore } });
  direct = { zone: gateway.eu, name: 'eu', edgeKey: gateway.edgeKey, tenant: 'acme' };
});
afterAll(() => gateway.close());
beforeEach(() => resetZone(gateway.eu));

const APIS = [
  { path: '/v1/chat/completions', first: 'fra', second: 'dub' },
  { path: '/v1/responses', first: 'fra', second: 'dub' },
  { path: '/v1/messages', first: 'fra-messages', second: 'dub-messages' },
] as const;

const WAYS = ['through the edge', 'straight to the origin'] as const;
type Way = (typeof WAYS)[number];

const body = (stream: boolean) => chat('support-chat', 'hello', { input: 'hello', stream });

interface Hanging {
  readonly id: string;
  /** Hangs up: the connection is closed, as a process that ends or an SDK that aborts does it. */
  readonly hangUp: () => Promise<void>;
  /** Waits until so much of the answer has come. */
  readonly hears: (text: string) => Promise<void>;
}

let calls = 0;

/** A call whose caller will not wait for its end. */
function start(way: Way, path: string, stream: boolean): Hanging {
  calls += 1;
  const id = `hang-up-${calls}`;
  const aborter = new AbortController();
  const options = { body: body(stream), signal: aborter.signal };
  const answering =
    way === 'through the edge'
      ? request(gateway.edge.url + path, {
          method: 'POST',
          headers: { ...presented('eu', gateway.eu.key('acme')), 'x-request-id': id },
          ...options,
        })
      : callOrigin(direct, path, { headers: { 'x-request-id': id }, ...options });
  const ended = answering.catch(() => undefined);
  let heard = '';
  const reading = answering.then(async (answer) => {
    for await (const chunk of answer.body) heard += String(chunk);
  });
  const readingEnded = reading.catch(() => undefined);
  return {
    id,
    hangUp: async () => {
      aborter.abort();
      await ended;
      await readingEnded;
    },
    hears: (text) => vi.waitFor(() => expect(heard).toContain(text), { timeout: 5_000, interval: 5 }),
  };
}

const heldAt = (point: PausePoint) => (call: Received) => call.heldAt === point;
const CLOSED_WITHIN = { timeoutMs: 1_000 };

describe.each(WAYS)('a caller who hangs up, %s,', (way) => {
  describe.each(APIS)('on $path', ({ path, first, second }) => {
    const phases: readonly [string, boolean, PausePoint, OrderInput][] = [
      ['before the headers of a stream', true, 'headers', { gate: 'headers' }],
      ['before the first token', true, 'first_token', { gate: 'first_token' }],
      ['in the stream', true, 'frame', { gate: 'frame', text: 'one two three' }],
      ['before a plain answer', false, 'headers', { gate: 'headers' }],
      ['between the headers and the body of a plain answer', false, 'first_token', { gate: 'first_token' }],
    ];

    it.each(phases)('%s, ends the upstream call within a second, and is on record', async (...phase) => {
      const [, stream, point, order] = phase;
      const endpoint = gateway.eu.provider(first);
      endpoint.order(order);
      const call = start(way, path, stream);
      await endpoint.waitFor(heldAt(point));
      if (point === 'frame') await call.hears('one');
      await call.hangUp();
      await endpoint.waitFor(({ outcome }) => outcome === 'aborted', CLOSED_WITHIN);
      const records = await endedRecords(gateway.eu, call.id);
      const served = point === 'frame' ? ['served'] : [];
      expect(records.map(({ kind }) => kind)).toEqual(['pending', ...served, 'interrupted']);
      expect(records.at(-1)).toMatchObject({ actor: 'client', attempt: 1 });
      expect(records.at(-1)).not.toHaveProperty('code');
      expect(gateway.eu.provider(second).receivedTotal).toBe(0);
    });

    it('in the middle of a large plain answer, ends it', async () => {
      const endpoint = gateway.eu.provider(first);
      endpoint.order({ textBytes: 100_000, fault: { at: { bytes: 50_000 }, ending: 'silence' } });
      const call = start(way, path, false);
      await call.hears('xxx');
      await call.hangUp();
      await endpoint.waitFor(({ outcome }) => outcome === 'aborted', CLOSED_WITHIN);
      expect((await endedRecords(gateway.eu, call.id)).at(-1)).toMatchObject({
        kind: 'interrupted',
        actor: 'client',
      });
    });
  });
});

/** Writes a request as bytes, and leaves the connection to the test. */
async function rawCall(path: string, id: string, sent: string, announced = sent.length): Promise<Socket> {
  const { hostname, port } = new URL(gateway.eu.origin.url);
  const headers = await directHeaders(direct, path);
  const lines = Object.entries({ ...headers, 'content-length': String(announced), 'x-request-id': id })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined).resume();
  socket.write(`POST ${path} HTTP/1.1\r\nhost: origin\r\n${lines}\r\n${sent}`);
  return socket;
}

describe.each(APIS)('a caller who hangs up between two attempts on $path', ({ path, first, second }) => {
  it('is not served by a second one', async () => {
    const endpoint = gateway.eu.provider(first);
    endpoint.order({ status: 503, gate: 'headers' });
    const id = `between-${first}-${path}`.replaceAll('/', '.');
    const socket = await rawCall(path, id, body(true));
    await endpoint.waitFor(heldAt('headers'));
    const release = store.hold();
    const failing = store.nextGroup();
    endpoint.release('headers');
    await failing;
    // The origin closes its own side when it has seen that the other is closed.
    socket.end();
    await once(socket, 'close');
    release();
    // The log keeps its order: a second attempt would be on record before this refusal is.
    const refused = await callOrigin(direct, path, { body: 'no JSON' });
    await refused.body.dump();
    const records = await endedRecords(gateway.eu, id);
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'failed']);
    expect(gateway.eu.provider(second).receivedTotal).toBe(0);
  });
});

describe('a caller who hangs up while sending', () => {
  it('leaves the record of a refusal, and nothing is forwarded', async () => {
    const socket = await rawCall('/v1/chat/completions', 'half-sent', '{"model":"supp', 5_000);
    await once(socket, 'connect');
    socket.resetAndDestroy();
    const records = await endedRecords(gateway.eu, 'half-sent');
    expect(records).toMatchObject([{ kind: 'refused', code: 'body_invalid' }]);
    expect(gateway.eu.provider('fra').receivedTotal).toBe(0);
  });
});

describe('callers who stay', () => {
  it.each(WAYS)('are never taken for gone in a hundred calls %s', async (way) => {
    const ids: string[] = [];
    const one = async (index: number) => {
      const path = APIS[index % APIS.length]?.path ?? '';
      const options = { method: 'POST' as const, body: body(index % 2 === 0) };
      const answer =
        way === 'through the edge'
          ? await request(gateway.edge.url + path, {
              ...options,
              headers: presented('eu', gateway.eu.key('acme')),
            })
          : await callOrigin(direct, path, options);
      await answer.body.text();
      ids.push(String(answer.headers['x-request-id']));
    };
    for (let index = 0; index < 100; index += 10) {
      await Promise.all(Array.from({ length: 10 }, (_, turn) => one(index + turn)));
    }
    const kinds = await vi.waitFor(async () => {
      const records = (await gateway.eu.records()).filter(({ request_id: id }) => ids.includes(id ?? ''));
      expect(records.length).toBe(300);
      return records.map(({ kind }) => kind);
    }, 5_000);
    expect(new Set(kinds)).toEqual(new Set(['pending', 'served', 'completed']));
  });
});
