import { afterEach, beforeEach, expect, it } from 'vitest';
import { INSIST } from '../../origin/health/keeper.ts';
import type { Store } from '../../origin/store/store.ts';
import { askAdmin, endpointOf } from '../support/admin.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { ManualClock, settled } from '../support/manual-clock.ts';

const CHAT = JSON.stringify({ model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] });
const RELEASE = { by: 'ana', why: 'the vendor has mended its routing' };
const WRITES_MAX = 1_000;

let clock: ManualClock;
let direct: DirectOrigin;
let store: FaultyStore;

beforeEach(async () => {
  clock = new ManualClock();
  direct = await startDirect({
    setup: { clock },
    health: { probe: 'none' },
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
async function servedBy(): Promise<unknown> {
  const answer = await callOrigin(direct, '/v1/chat/completions', { body: CHAT });
  await answer.body.dump();
  return answer.statusCode === 200 ? answer.headers['x-residency-endpoint'] : answer.statusCode;
}

/** Lets pass the time for which a write of circuits is tried again before anybody is answered without it. */
async function giveUpKeeping(): Promise<void> {
  for (let turn = 0; turn < INSIST.times; turn += 1) {
    await settled();
    clock.advance(INSIST.everyMs);
  }
}

const state = async (): Promise<string> => (await endpointOf(direct.zone, 'fra')).state;

/** A process that records a violation, and to its end cannot keep the circuit of the endpoint. */
async function violateUnkept(): Promise<void> {
  store.failSaves(WRITES_MAX);
  fra().order({ headers: { 'x-served-from': 'us-east-1' } });
  const calling = servedBy();
  await expect.poll(state).toBe('quarantined');
  await giveUpKeeping();
  expect(await calling).toBe(502);
  fra().reset();
}

async function release(): Promise<number> {
  const answering = askAdmin(direct.zone, 'POST', '/admin/endpoints/fra/release', RELEASE);
  await expect.poll(state).toBe('half_open');
  await giveUpKeeping();
  return (await answering).status;
}

it('a quarantine of which the log alone was written holds after the next start, for every call', async () => {
  await violateUnkept();
  await direct.zone.restart();
  expect(await endpointOf(direct.zone, 'fra')).toMatchObject({
    state: 'quarantined',
    usable: false,
    next: null,
    evidence: { region: 'us-east-1', source: 'response_header' },
  });
  expect(await servedBy()).toBe('dub');
  expect(fra().receivedTotal).toBe(0);
});

it('one that a person released is over after the next start, though that was not kept either', async () => {
  await violateUnkept();
  expect(await release()).toBe(503);
  await direct.zone.restart();
  expect(await servedBy()).toBe('fra');
});

it('one that came back after its release holds', async () => {
  await violateUnkept();
  await release();
  await violateUnkept();
  await direct.zone.restart();
  expect(await state()).toBe('quarantined');
});

it('one that was put back from the log is released as any other, for good', async () => {
  await violateUnkept();
  await direct.zone.restart();
  clock.advance(1_000);
  expect((await askAdmin(direct.zone, 'POST', '/admin/endpoints/fra/release', RELEASE)).status).toBe(200);
  await direct.zone.restart();
  expect(await servedBy()).toBe('fra');
});
