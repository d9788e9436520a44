import { SignJWT } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Store } from '../../origin/store/store.ts';
import { chat } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, resetZone, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';
import { endedRecords } from '../support/served.ts';

const FIRST_BYTE_MS = 20_000;
const FIRST_TOKEN_MS = 10_000;
const TOTAL_MS = 25_000;
const STALL_MS = 5_000;
const LEDGER_MS = 3_000;

let origin: DirectOrigin;
let store: FaultyStore;
const clock = new ManualClock();

beforeAll(async () => {
  const wrapStore = (inner: Store) => {
    store = new FaultyStore(inner);
    return store;
  };
  origin = await startDirect({
    setup: { clock },
    wrapStore,
    limits: {
      time_to_first_byte_ms: FIRST_BYTE_MS,
      time_to_first_token_ms: FIRST_TOKEN_MS,
      attempts_total_ms: TOTAL_MS,
      client_stall_ms: STALL_MS,
      ledger_ms: LEDGER_MS,
      concurrent_requests: 8,
      held_back_bytes: 2_000,
    },
  });
});
afterAll(() => origin.zone.close());
beforeEach(() => resetZone(origin.zone));

const PATH = '/v1/chat/completions';
let calls = 0;

function begin(stream: boolean, content = 'hello') {
  calls += 1;
  const id = `limit-${calls}`;
  const answer = callOrigin(origin, PATH, {
    headers: { 'x-request-id': id },
    body: chat('support-chat', content, { stream }),
  });
  answer.catch(() => undefined);
  return { id, answer, text: () => answer.then(({ body }) => body.text()) };
}

/** The request that waits at an endpoint for its time to run out. */
const waitsAt = (endpoint: string) =>
  origin.zone.provider(endpoint).waitFor(({ heldAt }) => heldAt !== undefined);

describe('the time that an endpoint may take', () => {
  it.each([
    ['headers', false, FIRST_BYTE_MS, 'no answer within the limit time_to_first_byte_ms (20000 ms)'],
    ['first_token', false, FIRST_BYTE_MS, 'no answer within the limit time_to_first_byte_ms (20000 ms)'],
    ['headers', true, FIRST_TOKEN_MS, 'no content within the limit time_to_first_token_ms (10000 ms)'],
    ['first_token', true, FIRST_TOKEN_MS, 'no content within the limit time_to_first_token_ms (10000 ms)'],
  ] as const)('held at %s (stream: %s) ends to the millisecond', async (gate, stream, limit, why) => {
    origin.zone.provider('fra').order({ gate });
    const { id, answer, text } = begin(stream);
    await waitsAt('fra');
    clock.advance(limit - 1);
    await settled();
    expect(origin.zone.provider('fra').received[0]?.outcome).toBeUndefined();
    clock.advance(1);
    expect((await answer).headers['x-residency-endpoint']).toBe('dub');
    await text();
    expect(origin.zone.provider('fra').received[0]?.outcome).toBe('aborted');
    const [, failed, second] = await endedRecords(origin.zone, id);
    expect(failed).toMatchObject({ kind: 'failed', latency_ms: limit });
    expect(second?.candidates).toContainEqual({ endpoint: 'fra', rejected: why });
  });

  it('ends for all attempts together, and says which were not tried', async () => {
    for (const endpoint of ['fra', 'dub']) origin.zone.provider(endpoint).order({ gate: 'headers' });
    const { id, answer } = begin(false);
    await waitsAt('fra');
    clock.advance(FIRST_BYTE_MS);
    await waitsAt('dub');
    clock.advance(TOTAL_MS - FIRST_BYTE_MS);
    expect((await answer).statusCode).toBe(503);
    const last = (await endedRecords(origin.zone, id)).at(-1);
    expect(last).toMatchObject({ kind: 'failed', code: 'no_compliant_endpoint', attempt: 2 });
    expect(last?.candidates).toContainEqual({
      endpoint: 'dub',
      rejected: 'no content before the limit attempts_total_ms (25000 ms)'.replace('content', 'answer'),
    });
  });
});

describe('lifecycle frames', () => {
  it('are held back within a bound', async () => {
    const long = JSON.stringify({ choices: [], prompt_filter_results: 'x'.repeat(2_500) });
    const events = [{ data: long }, { data: '{"error":{"message":"overloaded"}}' }];
    origin.zone.provider('fra').order({ events, gate: 'terminator' });
    const { answer, text } = begin(true);
    expect((await answer).headers['x-residency-endpoint']).toBe('fra');
    origin.zone.provider('fra').release('terminator');
    expect(await text()).toContain('overloaded');
  });
});

describe('a caller that does not read', () => {
  it('stops its endpoint, slows nobody, and is ended when its time is up', async () => {
    const endpoint = origin.zone.provider('fra');
    endpoint.order({ textBytes: 64 * 1024 * 1024 }, { times: 1 });
    const { id, answer } = begin(true);
    const { body } = await answer;
    // Once nothing moves any more, all buffers between the two are full.
    let sent = -1;
    for (let still = 0; still < 20; still += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      const now = endpoint.received[0]?.framesSent ?? 0;
      if (now !== sent) still = 0;
      sent = now;
    }
    const frames = (64 * 1024 * 1024) / 16_384;
    expect(sent).toBeLessThan(frames / 2);
    expect(endpoint.received[0]?.outcome).toBeUndefined();

    const other = begin(true);
    expect(await other.text()).toContain('[DONE]');

    clock.advance(STALL_MS);
    await endpoint.waitFor(({ index, outcome }) => index === 0 && outcome === 'aborted');
    body.on('error', () => undefined);
    expect((await endedRecords(origin.zone, id)).at(-1)).toMatchObject({
      kind: 'interrupted',
      actor: 'client',
    });
    body.destroy();
  });
});

describe('calls under way', () => {
  it('are bounded, and the limit is named', async () => {
    origin.zone.provider('fra').order({ gate: 'headers' });
    const running = Array.from({ length: 8 }, () => begin(false));
    await origin.zone.provider('fra').waitFor(({ index, heldAt }) => index === 7 && heldAt === 'headers');
    const refused = await begin(false).answer;
    expect([refused.statusCode, refused.headers['retry-after']]).toEqual([503, '1']);
    expect(await refused.body.json()).toMatchObject({ error: { code: 'gateway_busy' } });
    origin.zone.provider('fra').release('headers');
    for (const call of running) await call.text();
    expect((await begin(false).answer).statusCode).toBe(200);
  });

  it('leave no timer behind, however they end', async () => {
    const before = clock.waiting;
    origin.zone.provider('fra').order({ status: 503 }, { times: 20 });
    for (let turn = 0; turn < 40; turn += 1) await begin(turn % 2 === 0).text();
    await expect.poll(() => clock.waiting).toBe(before);
  });
});

describe('a log that fails while a call is under way', () => {
  it('before the call leaves: nothing is forwarded', async () => {
    const release = store.hold();
    const { answer } = begin(false);
    await store.nextGroup();
    await settled();
    clock.advance(LEDGER_MS);
    const { statusCode, headers, body } = await answer;
    expect([statusCode, headers['x-residency-outcome']]).toEqual([503, 'refused']);
    expect(headers).not.toHaveProperty('x-residency-attempts');
    expect(await body.json()).toMatchObject({ error: { code: 'ledger_unavailable' } });
    release();
    expect(origin.zone.provider('fra').receivedTotal).toBe(0);
  });

  it('before the answer is on record: the caller gets nothing of it, and the attempt has one end', async () => {
    origin.zone.provider('fra').order({ gate: 'headers', text: 'the words of the endpoint' });
    const { id, answer } = begin(true);
    await waitsAt('fra');
    const release = store.hold();
    const serving = store.nextGroup();
    origin.zone.provider('fra').release('headers');
    await serving;
    clock.advance(LEDGER_MS);
    const { statusCode, headers, body } = await answer;
    const text = await body.text();
    expect([statusCode, headers['x-residency-outcome']]).toEqual([503, 'failed']);
    expect(headers).not.toHaveProperty('x-residency-receipt');
    expect(text).toContain('ledger_unavailable');
    expect(text).not.toContain('words');
    release();
    const records = await endedRecords(origin.zone, id);
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'failed']);
    expect(records[2]).toMatchObject({ code: 'ledger_unavailable', status: 503 });
  });

  it('gives the caller no byte before the answer is durable', async () => {
    origin.zone.provider('fra').order({ gate: 'headers' });
    const { answer, text } = begin(true);
    let begun = false;
    void answer.then(() => {
      begun = true;
    });
    await waitsAt('fra');
    const release = store.hold();
    const serving = store.nextGroup();
    origin.zone.provider('fra').release('headers');
    await serving;
    await origin.zone.provider('fra').waitFor(({ outcome }) => outcome === 'completed');
    for (let turn = 0; turn < 50; turn += 1) await settled();
    expect(begun).toBe(false);
    release();
    expect(await text()).toContain('[DONE]');
  });
});

describe('a part of the origin that breaks in the middle of a call', () => {
  it('ends the call on both sides, with the attempt ended on record and nothing of the answer told', async () => {
    const broken = await startDirect();
    broken.zone.provider('fra').order({ gate: ['headers', 'terminator'] });
    const answer = callOrigin(broken, PATH, {
      headers: { 'x-request-id': 'broken' },
      body: chat('support-chat', 'hello', { stream: true }),
    });
    const refused = expect(answer).rejects.toThrow();
    await broken.zone.provider('fra').waitFor(({ heldAt }) => heldAt === 'headers');
    const sign = vi.spyOn(SignJWT.prototype, 'sign').mockRejectedValueOnce(new Error('no receipt'));
    broken.zone.provider('fra').release('headers');
    await refused;
    sign.mockRestore();
    await broken.zone.provider('fra').waitFor(({ outcome }) => outcome === 'aborted', { timeoutMs: 1_000 });
    const records = await endedRecords(broken.zone, 'broken');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'failed']);
    expect(records.at(-1)).toMatchObject({ actor: 'gateway' });
    await broken.zone.close();
  });
});
