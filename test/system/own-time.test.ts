import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { Store } from '../../origin/store/store.ts';
import { endpointOf } from '../support/admin.ts';
import { callOrigin, type DirectOrigin, directHeaders, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { endedRecords } from '../support/served.ts';
import type { ZoneSpec } from '../support/zone.ts';

/** So that a single failure would show. */
const HEALTH = { probe: 'none', open_circuit_after: 1, half_open_after_seconds: 30, max_ttft_ms: 1_000 };
const PATH = '/v1/chat/completions';

let direct: DirectOrigin;
let clock: ManualClock;
let store: FaultyStore;
afterEach(() => direct.zone.close());

const fra = () => direct.zone.provider('fra');

async function start(spec: Partial<ZoneSpec> = {}): Promise<void> {
  clock = new ManualClock();
  direct = await startDirect({
    setup: { clock },
    health: HEALTH,
    endpoints: [
      { id: 'fra', region: 'eu-central-1' },
      { id: 'dub', region: 'eu-west-1' },
    ],
    wrapStore: (inner: Store) => {
      store = new FaultyStore(inner);
      return store;
    },
    ...spec,
  });
}

const bodyOf = (stream: boolean) =>
  JSON.stringify({ model: 'support-chat', stream, messages: [{ role: 'user', content: 'hello' }] });

async function call(id: string, stream: boolean) {
  const answer = await callOrigin(direct, PATH, { headers: { 'x-request-id': id }, body: bodyOf(stream) });
  await answer.body.text();
  return [answer.statusCode, answer.headers['x-residency-endpoint']];
}

async function expectUnharmed(): Promise<void> {
  await expect.poll(() => endpointOf(direct.zone, 'fra')).toMatchObject({ state: 'closed', reason: null });
}

const isHeld = ({ heldAt }: { readonly heldAt?: string | undefined }) => heldAt === 'headers';

describe('time that is not its own is not held against an endpoint:', () => {
  it('the log’s', async () => {
    await start();
    const release = store.hold();
    const arrived = store.nextGroup();
    const answer = call('logged', true);
    await arrived;
    clock.advance(2_000);
    release();
    expect(await answer).toEqual([200, 'fra']);
    await expectUnharmed();
    const [, served] = await endedRecords(direct.zone, 'logged');
    expect(served).toMatchObject({ ttft_ms: 0, latency_ms: 2_000 });
  });

  it('the wait for a connection of ours, behind which it has its whole time', async () => {
    await start({ limits: { upstream_connections: 1, time_to_first_token_ms: 6_000 } });
    fra().order({ gate: 'headers' });
    const first = call('first', false);
    await fra().waitFor(isHeld);
    const second = call('second', true);
    await expect.poll(async () => (await direct.zone.recordsOf('second')).length).toBe(1);
    clock.advance(5_500);
    fra().release('headers', 1);
    await fra().waitFor(({ index, heldAt }) => index === 1 && heldAt === 'headers');
    clock.advance(900);
    fra().release('headers');
    expect(await Promise.all([first, second])).toEqual([
      [200, 'fra'],
      [200, 'fra'],
    ]);
    await expectUnharmed();
  });

  it('that wait where it is too long: the call goes elsewhere', async () => {
    await start({ limits: { upstream_connections: 1, time_to_first_token_ms: 9_000 } });
    fra().order({ gate: 'headers' }, { times: 1 });
    const first = call('first', false);
    await fra().waitFor(isHeld);
    const second = call('second', true);
    await expect.poll(async () => (await direct.zone.recordsOf('second')).length).toBe(1);
    clock.advance(9_000);
    expect(await second).toEqual([200, 'dub']);
    const rejected = 'not sent within the limit time_to_first_token_ms (9000 ms)';
    const [, , pending] = await endedRecords(direct.zone, 'second');
    expect(pending?.candidates).toEqual([{ endpoint: 'fra', rejected }]);
    await expectUnharmed();
    fra().release('headers');
    expect(await first).toEqual([200, 'fra']);
  });

  it.each([-3_600_000, 3_600_000])('a wall clock that steps by %i ms', async (ms) => {
    await start();
    fra().order({ gate: 'headers' });
    const answer = call('stepped', true);
    await fra().waitFor(isHeld);
    clock.stepWall(ms);
    clock.advance(10);
    fra().release('headers');
    expect(await answer).toEqual([200, 'fra']);
    const [, served] = await endedRecords(direct.zone, 'stepped');
    expect(served).toMatchObject({ ttft_ms: 10, latency_ms: 10 });
    await expectUnharmed();
  });

  it('what its caller took to send the request', async () => {
    await start({ limits: { attempts_total_ms: 5_000 } });
    const headers = { ...(await directHeaders(direct, PATH)), expect: '100-continue' };
    const answered = Promise.withResolvers<number | undefined>();
    const url = new URL(PATH, direct.zone.origin.url);
    const sent = request(url, { method: 'POST', headers }, (answer) => {
      answer.resume();
      answer.on('end', () => answered.resolve(answer.statusCode));
    });
    sent.on('error', answered.reject);
    sent.on('continue', () => {
      clock.advance(6_000);
      sent.end(bodyOf(false));
    });
    sent.flushHeaders();
    expect(await answered.promise).toBe(200);
    expect(fra().receivedTotal).toBe(1);
    await expectUnharmed();
  });

  it('what was left of the time of all attempts', async () => {
    await start({ limits: { attempts_total_ms: 5_000 } });
    fra().order({ gate: 'headers' });
    const answer = call('late', false);
    await fra().waitFor(isHeld);
    clock.advance(5_000);
    expect(await answer).toEqual([503, undefined]);
    await expectUnharmed();
  });
});

it('holds its own time against an endpoint: a first token that comes too late', async () => {
  await start();
  fra().order({ gate: 'headers' });
  const answer = call('slow', true);
  await fra().waitFor(isHeld);
  clock.advance(1_001);
  fra().release('headers');
  expect(await answer).toEqual([200, 'fra']);
  await expect.poll(async () => (await endpointOf(direct.zone, 'fra')).state).toBe('open');
});

it('begins no attempt that has next to no time left', async () => {
  await start({ limits: { time_to_first_byte_ms: 20_000, attempts_total_ms: 20_500 } });
  fra().order({ gate: 'headers' });
  const answer = call('hurried', false);
  await fra().waitFor(isHeld);
  clock.advance(20_000);
  expect(await answer).toEqual([503, undefined]);
  const last = (await endedRecords(direct.zone, 'hurried')).at(-1);
  expect(last?.candidates).toContainEqual({
    endpoint: 'dub',
    rejected: 'not tried: the limit attempts_total_ms was reached before',
  });
  expect(direct.zone.provider('dub').receivedTotal).toBe(0);
});
