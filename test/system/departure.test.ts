import { createServer } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Secret } from '../../origin/endpoints/secret.ts';
import { listen } from '../../origin/listening.ts';
import { askAdmin } from '../support/admin.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { endedRecords } from '../support/served.ts';
import { startTokenEndpoint } from '../support/token-endpoint.ts';
import type { ZoneSpec } from '../support/zone.ts';

const HEALTH = { probe: 'none', open_circuit_after: 3, half_open_after_seconds: 30, max_ttft_ms: 4_000 };
const SECRET = 'MARKER-PROMPT';

let direct: DirectOrigin;
const ends: (() => unknown)[] = [];
afterEach(async () => {
  await direct.zone.close();
  await Promise.all(ends.splice(0).map((end) => end()));
});

const fra = () => direct.zone.provider('fra');
const dub = () => direct.zone.provider('dub');

const start = async (spec: Partial<ZoneSpec>) => {
  direct = await startDirect({
    setup: { clock: new ManualClock() },
    health: HEALTH,
    endpoints: [
      { id: 'fra', region: 'eu-central-1', regionHeader: 'x-ran-in' },
      { id: 'dub', region: 'eu-west-1' },
    ],
    ...spec,
  });
};

async function call(id: string, content = 'hello') {
  const answer = await callOrigin(direct, '/v1/chat/completions', {
    headers: { 'x-request-id': id },
    body: JSON.stringify({ model: 'support-chat', messages: [{ role: 'user', content }] }),
  });
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

const forceOpen = async () => {
  const ordered = await askAdmin(direct.zone, 'POST', '/admin/endpoints/fra/open', {
    by: 'a.person',
    why: 'x',
  });
  expect(ordered.status).toBe(200);
};

/** The call has left the endpoint out though leave was given for it, and says why on record. */
async function expectWithdrawn(waiting: ReturnType<typeof call>, why: string) {
  const answer = await waiting;
  expect([answer.status, answer.headers['x-residency-endpoint']]).toEqual([200, 'dub']);
  expect(fra().received.some(({ body }) => body.includes(SECRET))).toBe(false);
  expect(dub().received.some(({ body }) => body.includes(SECRET))).toBe(true);
  const records = await endedRecords(direct.zone, 'waiting');
  expect(records.map(({ kind }) => kind)).toEqual(['pending', 'failed', 'pending', 'served', 'completed']);
  expect(records[1]).toMatchObject({ endpoint: 'fra', actor: 'gateway' });
  expect(records[2]?.candidates).toEqual([{ endpoint: 'fra', rejected: expect.stringContaining(why) }]);
}

/** A call that waits for the one connection to `fra`, which another call has. */
async function waitForConnection(headers: Record<string, string> = {}) {
  fra().order({ gate: 'headers', headers });
  const first = call('first');
  await fra().waitFor(({ heldAt }) => heldAt === 'headers');
  const waiting = call('waiting', SECRET);
  await expect.poll(async () => (await direct.zone.recordsOf('waiting')).length).toBe(1);
  return { first, waiting };
}

describe('a call that has leave and waits does not reach its endpoint any more', () => {
  it('once an operator has forced it open, where it waited for a connection', async () => {
    await start({ limits: { upstream_connections: 1 } });
    const { first, waiting } = await waitForConnection();
    await forceOpen();
    fra().release('headers');
    await first;
    await expectWithdrawn(waiting, 'forced open by an operator');
  });

  it('once the answer of the call before it gave evidence of a wrong region', async () => {
    await start({ limits: { upstream_connections: 1 } });
    const { first, waiting } = await waitForConnection({ 'x-ran-in': 'us-east-1' });
    fra().release('headers');
    expect((await first).status).toBe(502);
    await expectWithdrawn(waiting, 'quarantined');
  });

  it('where it waited for the credential', async () => {
    const tokens = await startTokenEndpoint();
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    let asked = 0;
    const gate = createServer((_, response) => {
      asked += 1;
      void released.then(() => response.end('{"access_token":"a-token","expires_in":3600}'));
    });
    const token_uri = `${await listen(gate, { host: '127.0.0.1', port: 0 })}/token`;
    ends.push(
      tokens.close,
      () => gate.closeAllConnections(),
      () => gate.close(),
    );
    const credential = new Secret(JSON.stringify({ ...JSON.parse(tokens.keyFile), token_uri }));
    await start({
      amend: (config) => ({
        ...config,
        registry: new Map(
          [...config.registry].map(([id, one]) => [
            id,
            id === 'fra' ? { ...one, provider: 'vertex', credential } : one,
          ]),
        ),
      }),
    });
    const waiting = call('waiting', SECRET);
    await expect.poll(() => asked).toBe(1);
    await forceOpen();
    release();
    await expectWithdrawn(waiting, 'forced open by an operator');
    expect(fra().openConnections).toBe(0);
  });
});
