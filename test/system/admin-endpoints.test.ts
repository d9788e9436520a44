import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../origin/store/store.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { askAdmin, endpointOf, wordsOf } from '../support/admin.ts';
import { documentOf } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { ManualClock } from '../support/manual-clock.ts';

const HEALTH = { probe: 'none', open_circuit_after: 5, half_open_after_seconds: 30, max_ttft_ms: 4_000 };
const CHAT = JSON.stringify({ model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] });
const STREAM = JSON.stringify({ ...JSON.parse(CHAT), stream: true });
const ORDER = { by: 'ana', why: 'maintenance in Frankfurt' };
const START = '2026-01-01T00:00:00.000Z';

let clock: ManualClock;
let direct: DirectOrigin;
let store: FaultyStore;

beforeEach(async () => {
  clock = new ManualClock(Date.parse(START));
  direct = await startDirect({
    setup: { clock },
    health: HEALTH,
    wrapStore: (inner: Store) => {
      store = new FaultyStore(inner);
      return store;
    },
    endpoints: [
      { id: 'fra', region: 'eu-central-1', regionHeader: 'x-served-from' },
      { id: 'dub', region: 'eu-west-1' },
    ],
  });
});
afterEach(() => direct.zone.close());

const fra = () => direct.zone.provider('fra');

/** The endpoint that answered a call, or its status where none did. */
async function servedBy(body = CHAT): Promise<unknown> {
  const answer = await callOrigin(direct, '/v1/chat/completions', { body });
  await answer.body.dump();
  return answer.statusCode === 200 ? answer.headers['x-residency-endpoint'] : answer.statusCode;
}

const give = (name: string, order: unknown = ORDER, id = 'fra') =>
  askAdmin(direct.zone, 'POST', `/admin/endpoints/${id}/${name}`, order);

const controls = async (): Promise<AuditRecord[]> =>
  (await direct.zone.records()).filter(({ kind }) => kind === 'control');

async function openFrankfurt(): Promise<void> {
  fra().order({ status: 503 });
  for (let call = 0; call < 5; call += 1) expect(await servedBy()).toBe('dub');
}

async function quarantineFrankfurt(): Promise<void> {
  fra().order({ headers: { 'x-served-from': 'us-east-1' } });
  expect(await servedBy()).toBe(502);
  fra().order({});
}

describe('what the person on call sees of the endpoints', () => {
  it('is each endpoint with its place, its state and its reason, since when and when next', async () => {
    clock.advance(60_000);
    await openFrankfurt();
    clock.advance(10_000);
    expect(await endpointOf(direct.zone, 'fra')).toEqual({
      id: 'fra',
      provider: 'openai-compatible',
      api: 'openai',
      region: 'eu-central-1',
      country: 'DE',
      facility: null,
      deployment: 'regional',
      workloads: ['support-chat'],
      allowed: true,
      never: null,
      health: 'out',
      state: 'open',
      usable: false,
      reason: 'circuit open after 5 failures in a row: answered 503',
      since: '2026-01-01T00:01:00.000Z',
      out_since: '2026-01-01T00:01:00.000Z',
      last_tried: '2026-01-01T00:01:00.000Z',
      next: '2026-01-01T00:01:30.000Z',
      ordered_by: null,
      evidence: null,
      recent: { minutes: 5, outcomes: 5, failures: 5, error_rate: 1, ttft_ms: null },
      probes: { count: 0, input_tokens: 0, output_tokens: 0, uncounted: 0 },
    });
    expect(await endpointOf(direct.zone, 'dub')).toMatchObject({
      state: 'closed',
      usable: true,
      health: 'ok',
      reason: null,
      since: null,
      out_since: null,
      last_tried: '2026-01-01T00:01:00.000Z',
      next: null,
      recent: { minutes: 5, outcomes: 5, failures: 0, error_rate: 0, ttft_ms: null },
    });
    clock.advance(20_000);
    const waiting = {
      state: 'half_open',
      health: 'trial',
      usable: true,
      reason: 'the next call or probe tries it, the others go past it',
      next: null,
    };
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject(waiting);
  });

  it('is since when one is out, however often it was tried since, over a restart too', async () => {
    clock.advance(60_000);
    await openFrankfurt();
    for (const minute of [2, 3]) {
      clock.advance(60_000);
      expect(await servedBy()).toBe('dub');
      expect(await endpointOf(direct.zone, 'fra')).toMatchObject({
        reason: 'circuit open again: answered 503',
        out_since: '2026-01-01T00:01:00.000Z',
        last_tried: `2026-01-01T00:0${minute}:00.000Z`,
      });
    }
    await direct.zone.restart();
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({
      out_since: '2026-01-01T00:01:00.000Z',
      last_tried: '2026-01-01T00:03:00.000Z',
    });
    clock.advance(60_000);
    fra().order({});
    expect(await servedBy()).toBe('fra');
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ health: 'ok', out_since: null });
    fra().order({ status: 503 });
    for (let call = 0; call < 5; call += 1) expect(await servedBy()).toBe('dub');
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ out_since: '2026-01-01T00:04:00.000Z' });
  });

  it('tells an endpoint that no policy ever lets serve from one that is out', async () => {
    const london = await startDirect({
      health: HEALTH,
      endpoints: [
        { id: 'fra', region: 'eu-central-1' },
        { id: 'lon', region: 'eu-west-2' },
      ],
    });
    try {
      expect(await endpointOf(london.zone, 'lon')).toMatchObject({
        allowed: false,
        never: 'London (eu-west-2) is in GB, zone uk, not eu',
        health: 'ok',
        usable: false,
      });
      expect(await endpointOf(london.zone, 'fra')).toMatchObject({ allowed: true, never: null });
    } finally {
      await london.zone.close();
    }
  });

  it('is that one is busy after a 429, and until when', async () => {
    fra().order({ status: 429, headers: { 'retry-after': '20' } });
    expect(await servedBy()).toBe('dub');
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({
      health: 'busy',
      state: 'closed',
      usable: false,
      reason: 'it asked to be left alone for a while (429)',
      next: '2026-01-01T00:00:20.000Z',
    });
  });

  it('is how many of the last calls failed there, and how soon its streams began', async () => {
    expect((await endpointOf(direct.zone, 'fra')).recent).toMatchObject({ outcomes: 0, error_rate: null });
    expect(await servedBy(STREAM)).toBe('fra');
    fra().order({ status: 503 });
    expect(await servedBy()).toBe('dub');
    expect((await endpointOf(direct.zone, 'fra')).recent).toEqual({
      minutes: 5,
      outcomes: 2,
      failures: 1,
      error_rate: 0.5,
      ttft_ms: { typical: 0, last: 0 },
    });
  });

  it('is where an endpoint was seen outside its regions, and that no time ends it', async () => {
    await quarantineFrankfurt();
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({
      state: 'quarantined',
      usable: false,
      next: null,
      evidence: { region: 'us-east-1', source: 'response_header' },
    });
  });
});

describe('an order over an endpoint', () => {
  it('sends every call past one that was forced open, over a restart, and says who and why on record', async () => {
    const answer = await give('open');
    expect(answer.status).toBe(200);
    const held = { state: 'forced_open', usable: false, reason: ORDER.why, ordered_by: 'ana', next: null };
    expect(documentOf(answer)).toMatchObject(held);
    expect(await servedBy()).toBe('dub');
    await direct.zone.restart();
    clock.advance(86_400_000);
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ ...held, since: START });
    expect(await servedBy()).toBe('dub');
    expect(fra().receivedTotal).toBe(0);
    expect(await controls()).toMatchObject([
      {
        endpoint: 'fra',
        actor: 'ana',
        jurisdiction: 'eu',
        selection_reason: 'circuit forced open, was closed: maintenance in Frankfurt',
      },
    ]);
  });

  it('ends by itself after its minutes, and one probe tells whether the endpoint is well', async () => {
    expect((await give('open', { ...ORDER, minutes: 30 })).status).toBe(200);
    expect((await endpointOf(direct.zone, 'fra')).next).toBe('2026-01-01T00:30:00.000Z');
    clock.advance(29 * 60_000);
    expect(await servedBy()).toBe('dub');
    clock.advance(60_000);
    expect(await servedBy()).toBe('fra');
    expect((await controls()).map(({ actor, selection_reason }) => [actor, selection_reason])).toEqual([
      ['ana', 'circuit forced open for 30 minutes, was closed: maintenance in Frankfurt'],
      ['gateway', 'circuit half_open to closed: its probe succeeded'],
    ]);
  });

  it('lets calls go to one that was forced closed, however it fails, until it is released', async () => {
    await openFrankfurt();
    const before = (await controls()).length;
    expect((await give('close', { by: 'ben', why: 'the vendor says that it is up' })).status).toBe(200);
    for (let call = 0; call < 6; call += 1) expect(await servedBy()).toBe('dub');
    expect(fra().receivedTotal).toBe(11);
    expect((await give('release', { by: 'ana', why: 'it was not' })).status).toBe(200);
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ state: 'closed', ordered_by: null });
    expect(
      (await controls()).slice(before).map(({ actor, selection_reason }) => [actor, selection_reason]),
    ).toEqual([
      ['ben', 'circuit forced closed, was open: the vendor says that it is up'],
      ['ana', 'circuit released, was forced_closed: it was not'],
    ]);
  });

  it('puts a quarantined endpoint back by a release alone, and leaves it out by anything else', async () => {
    await quarantineFrankfurt();
    for (const name of ['open', 'close']) {
      const refused = await give(name);
      expect(refused.status).toBe(409);
      expect(wordsOf(refused)).toContain('quarantined');
    }
    expect(await servedBy()).toBe('dub');
    const released = await give('release', { by: 'ana', why: 'the vendor has mended its routing' });
    expect(documentOf(released)).toMatchObject({ state: 'half_open', usable: true, evidence: null });
    expect(await servedBy()).toBe('fra');
    expect((await controls()).map(({ actor, selection_reason }) => [actor, selection_reason])).toEqual([
      ['gateway', expect.stringContaining('circuit closed to quarantined')],
      ['ana', 'circuit released, was quarantined: the vendor has mended its routing'],
      ['gateway', 'circuit half_open to closed: its probe succeeded'],
    ]);
  });

  it('of one person over that of another is on record too', async () => {
    await give('open', { by: 'ana', why: 'first' });
    await give('open', { by: 'ben', why: 'second' });
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ ordered_by: 'ben', reason: 'second' });
    expect((await controls()).map(({ actor }) => actor)).toEqual(['ana', 'ben']);
  });

  it('changes nothing and records nothing where it is no order', async () => {
    const long = 'x'.repeat(257);
    const wrong: readonly (readonly [string, unknown])[] = [
      ['open', { why: 'who?' }],
      ['open', { by: 'ana' }],
      ['open', { by: 'ana', why: '  ' }],
      ['open', { by: 'ana', why: 'two\nlines' }],
      ['open', { by: 'ana', why: long }],
      ['open', { by: long, why: 'x' }],
      ['open', { ...ORDER, minutes: 0 }],
      ['open', { ...ORDER, minutes: 10_081 }],
      ['open', { ...ORDER, minutes: 1.5 }],
      ['open', { ...ORDER, until: 'tomorrow' }],
      ['release', { ...ORDER, minutes: 5 }],
      ['open', 'no JSON'],
      ['open', 'null'],
    ];
    for (const [name, order] of wrong)
      expect([order, (await give(name, order)).status]).toEqual([order, 400]);
    expect((await give('open', { ...ORDER, why: 'x'.repeat(9_000) })).status).toBe(413);
    expect((await give('open', ORDER, 'nowhere')).status).toBe(404);
    expect((await give('explode')).status).toBe(404);
    const nothing = await give('release');
    expect([nothing.status, wordsOf(nothing)]).toEqual([409, expect.stringContaining('nothing to release')]);
    for (const headers of [{}, { authorization: 'Bearer wrong-token' }]) {
      const path = '/admin/endpoints/fra/open';
      expect((await askAdmin(direct.zone, 'POST', path, ORDER, headers)).status).toBe(401);
      expect((await askAdmin(direct.zone, 'GET', '/admin/endpoints', undefined, headers)).status).toBe(401);
    }
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ state: 'closed', since: null });
    expect(await controls()).toEqual([]);
  });
});

describe('an order while the store fails', () => {
  it('holds, says that it would not outlast a restart, and is kept with the next try', async () => {
    store.failSaves(1);
    const answer = await give('open');
    expect([answer.status, wordsOf(answer)]).toEqual([503, expect.stringContaining('a restart')]);
    expect(await servedBy()).toBe('dub');
    expect((await give('open')).status).toBe(200);
    await direct.zone.restart();
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ state: 'forced_open' });
  });

  it('releases no quarantine that came while the release of an order was being recorded', async () => {
    await give('close');
    fra().order({ gate: 'headers', headers: { 'x-served-from': 'us-east-1' } });
    const calling = servedBy();
    await fra().waitFor(({ heldAt }) => heldAt === 'headers');
    const open = store.hold();
    const arrived = store.nextGroup();
    const answering = give('release');
    await arrived;
    fra().release('headers');
    await expect.poll(async () => (await endpointOf(direct.zone, 'fra')).state).toBe('quarantined');
    open();
    expect((await answering).status).toBe(409);
    expect(await calling).toBe(502);
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ state: 'quarantined', usable: false });
  });

  it('holds, says that it is not on record yet, and is on record once the log can be written', async () => {
    const open = store.hold();
    const arrived = store.nextGroup();
    const answering = give('open');
    await arrived;
    clock.advance(3_000);
    const answer = await answering;
    expect([answer.status, wordsOf(answer)]).toEqual([503, expect.stringContaining('audit log')]);
    expect(await endpointOf(direct.zone, 'fra')).toMatchObject({ state: 'forced_open' });
    open();
    expect(await servedBy()).toBe('dub');
    expect((await controls()).map(({ actor }) => actor)).toEqual(['ana']);
  });
});
