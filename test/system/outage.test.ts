import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { endpointOf } from '../support/admin.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { ManualClock } from '../support/manual-clock.ts';

const HEALTH = { probe: 'none', open_circuit_after: 5, half_open_after_seconds: 30, max_ttft_ms: 4_000 };
const CHAT = { model: 'support-chat', messages: [{ role: 'user', content: 'hello' }] };

interface Answer {
  readonly status: number;
  readonly endpoint: string | undefined;
  readonly attempts: string | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: string;
}

describe('an outage in the zone', () => {
  let clock: ManualClock;
  let direct: DirectOrigin;

  beforeEach(async () => {
    clock = new ManualClock();
    direct = await startDirect({
      setup: { clock },
      health: HEALTH,
      endpoints: [
        { id: 'fra', region: 'eu-central-1' },
        { id: 'dub', region: 'eu-west-1' },
      ],
    });
  });

  afterEach(() => direct.zone.close());

  const fra = () => direct.zone.provider('fra');
  const dub = () => direct.zone.provider('dub');

  async function chat(more: object = {}): Promise<Answer> {
    const answer = await callOrigin(direct, '/v1/chat/completions', {
      body: JSON.stringify({ ...CHAT, ...more }),
    });
    const header = (name: string) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? value : undefined;
    };
    return {
      status: answer.statusCode,
      endpoint: header('x-residency-endpoint'),
      attempts: header('x-residency-attempts'),
      headers: answer.headers,
      body: await answer.body.text(),
    };
  }

  async function openFrankfurt(): Promise<void> {
    fra().order({ status: 503 });
    for (let call = 0; call < 5; call += 1) expect((await chat()).endpoint).toBe('dub');
  }

  it('goes straight to the second endpoint once the first has failed five times, and says why on record', async () => {
    await openFrankfurt();
    expect(fra().receivedTotal).toBe(5);
    const answer = await chat();
    expect(answer).toMatchObject({ status: 200, endpoint: 'dub', attempts: '1' });
    expect(fra().receivedTotal).toBe(5);
    const records = await direct.zone.records();
    const pending = records.filter(({ kind }) => kind === 'pending').at(-1);
    expect(pending?.selection_reason).toContain('circuit open after 5 failures in a row: answered 503');
    const control = records.find(({ kind }) => kind === 'control');
    expect(control).toMatchObject({ endpoint: 'fra', actor: 'gateway' });
    expect(control?.selection_reason).toContain('circuit closed to open');
  });

  it('lets one probe through when the time is up, though a hundred calls wait, and comes back by it', async () => {
    await openFrankfurt();
    fra().order({ gate: 'headers' });
    clock.advance(30_000);
    let answered = 0;
    const allButTheProbe = Promise.withResolvers<void>();
    const calls = Array.from({ length: 100 }, async () => {
      const answer = await chat();
      answered += 1;
      if (answered === 99) allButTheProbe.resolve();
      return answer;
    });
    // Nobody is parked behind the probe: all others are answered while it is still held.
    await allButTheProbe.promise;
    await fra().waitFor(({ heldAt }) => heldAt === 'headers');
    fra().release('headers');
    const answers = await Promise.all(calls);
    expect(answers.filter(({ endpoint }) => endpoint === 'fra')).toHaveLength(1);
    expect(answers.every(({ status }) => status === 200)).toBe(true);
    expect(fra().receivedTotal).toBe(6);
    expect((await chat()).endpoint).toBe('fra');
  });

  it('is over with the head of a plain answer, however long its body takes', async () => {
    await openFrankfurt();
    fra().order({});
    fra().order({ gate: 'first_token' }, { times: 1 });
    clock.advance(30_000);
    const long = chat();
    await fra().waitFor(({ heldAt }) => heldAt === 'first_token');
    await expect.poll(async () => (await endpointOf(direct.zone, 'fra')).state).toBe('closed');
    expect(await chat()).toMatchObject({ status: 200, endpoint: 'fra', attempts: '1' });
    fra().release('first_token');
    expect(await long).toMatchObject({ status: 200, endpoint: 'fra' });
  });

  it('opens again for as long when the probe fails, and its caller is served by the second', async () => {
    await openFrankfurt();
    clock.advance(30_000);
    expect(await chat()).toMatchObject({ status: 200, endpoint: 'dub', attempts: '2' });
    expect(fra().receivedTotal).toBe(6);
    clock.advance(29_000);
    expect((await chat()).attempts).toBe('1');
    expect(fra().receivedTotal).toBe(6);
  });

  it('is not forgotten by a restart', async () => {
    await openFrankfurt();
    await direct.zone.restart();
    expect(await chat()).toMatchObject({ endpoint: 'dub', attempts: '1' });
    expect(fra().receivedTotal).toBe(5);
  });

  it('refuses with the reason for each endpoint and an honest wait when none is left, and sends nothing', async () => {
    await openFrankfurt();
    clock.advance(10_000);
    dub().order({ status: 503 });
    for (let call = 0; call < 5; call += 1) await chat();
    const before = fra().receivedTotal + dub().receivedTotal;
    const answer = await chat();
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('20');
    const { error } = JSON.parse(answer.body);
    expect(error).toMatchObject({
      code: 'no_compliant_endpoint',
      type: 'no_compliant_endpoint',
      policy: 'eu-test@1.0.0',
    });
    expect(error.candidates).toEqual([
      { endpoint: 'fra', rejected: 'circuit open after 5 failures in a row: answered 503' },
      { endpoint: 'dub', rejected: 'circuit open after 5 failures in a row: answered 503' },
    ]);
    expect(fra().receivedTotal + dub().receivedTotal).toBe(before);
  });

  it('leaves a busy endpoint alone for as long as it asks, and counts that neither for nor against it', async () => {
    fra().order({ status: 503 });
    for (let call = 0; call < 4; call += 1) await chat();
    fra().order({ status: 429, headers: { 'retry-after': '20' } });
    expect((await chat()).endpoint).toBe('dub');
    expect(await chat()).toMatchObject({ endpoint: 'dub', attempts: '1' });
    expect(fra().receivedTotal).toBe(5);
    clock.advance(20_000);
    fra().order({ status: 503 });
    expect((await chat()).attempts).toBe('2');
    // The fifth failure: the busy answer between has not reset the count.
    expect((await chat()).attempts).toBe('1');
  });

  it('holds nothing against an endpoint that was the caller’s fault or the caller’s doing', async () => {
    fra().order({ status: 422 });
    for (let call = 0; call < 10; call += 1) expect((await chat()).status).toBe(422);
    fra().order({ gate: 'headers' });
    for (let call = 0; call < 10; call += 1) {
      const hangUp = new AbortController();
      const body = JSON.stringify(CHAT);
      const gone = callOrigin(direct, '/v1/chat/completions', { body, signal: hangUp.signal });
      await fra().waitFor(({ heldAt, index }) => heldAt === 'headers' && index === 10 + call);
      hangUp.abort();
      await expect(gone).rejects.toThrow();
    }
    fra().reset();
    expect(await chat()).toMatchObject({ status: 200, endpoint: 'fra' });
  });

  it('takes an endpoint whose credential is refused for broken, and never blames the caller’s key', async () => {
    fra().order({ status: 401 });
    for (let call = 0; call < 5; call += 1) expect((await chat()).status).toBe(200);
    expect((await chat()).attempts).toBe('1');
    expect(direct.zone.logLines.join('')).toContain("the gateway's credential is not accepted there");
  });
});

describe('evidence of a wrong region', () => {
  it('takes the endpoint out for every later call, over a restart, until a person puts it back', async () => {
    const clock = new ManualClock();
    const direct = await startDirect({
      setup: { clock },
      health: HEALTH,
      endpoints: [
        { id: 'fra', region: 'eu-central-1', regionHeader: 'x-served-from' },
        { id: 'dub', region: 'eu-west-1' },
      ],
    });
    const chat = () => callOrigin(direct, '/v1/chat/completions', { body: JSON.stringify(CHAT) });
    try {
      direct.zone.provider('fra').order({ headers: { 'x-served-from': 'us-east-1' } });
      const answer = await chat();
      expect(answer.statusCode).toBe(502);
      expect(await answer.body.text()).toContain('region_violation');
      direct.zone.provider('fra').order({});
      for (const again of [false, true]) {
        if (again) await direct.zone.restart();
        clock.advance(86_400_000);
        const next = await chat();
        expect(next.headers['x-residency-endpoint']).toBe('dub');
        await next.body.dump();
      }
      expect(direct.zone.provider('fra').receivedTotal).toBe(1);
      const kinds = (await direct.zone.records()).map(({ kind }) => kind);
      expect(kinds).toContain('violation');
      expect(kinds).toContain('control');
    } finally {
      await direct.zone.close();
    }
  });
});

describe('when nothing is left', () => {
  it('names every endpoint that was considered, each with its own reason, and when to come back', async () => {
    const clock = new ManualClock();
    const direct = await startDirect({
      setup: { clock },
      health: HEALTH,
      endpoints: [
        { id: 'fra', region: 'eu-central-1' },
        { id: 'dub', region: 'eu-west-1' },
        { id: 'lon', region: 'eu-west-2' },
        { id: 'sto', region: 'eu-north-1' },
      ],
      tenants: [
        {
          id: 'acme',
          teams: { research: { allowed_regions: ['eu-central-1', 'eu-west-1', 'eu-west-2'] } },
          keys: [{ id: 'research', team: 'research' }],
        },
      ],
    });
    const headers = { authorization: `Bearer ${direct.zone.key('acme', 'research')}` };
    const chat = () => callOrigin(direct, '/v1/chat/completions', { headers, body: JSON.stringify(CHAT) });
    try {
      direct.zone.provider('fra').order({ status: 503 });
      for (let call = 0; call < 5; call += 1) await (await chat()).body.dump();
      direct.zone.provider('dub').order({ status: 429, headers: { 'retry-after': '12' } });
      await (await chat()).body.dump();
      for (const provider of direct.zone.providers.values()) provider.reset();

      const answer = await chat();
      expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '12']);
      expect(await answer.body.json()).toMatchObject({
        error: {
          code: 'no_compliant_endpoint',
          policy: 'eu-test@1.0.0',
          candidates: [
            { endpoint: 'fra', rejected: 'circuit open after 5 failures in a row: answered 503' },
            { endpoint: 'dub', rejected: 'busy: it asked to be left alone for a while' },
            { endpoint: 'lon', rejected: 'London (eu-west-2) is in GB, zone uk, not eu' },
            { endpoint: 'sto', rejected: 'region eu-north-1 is outside the region lock of team research' },
          ],
        },
      });
      for (const provider of direct.zone.providers.values()) expect(provider.receivedTotal).toBe(0);
    } finally {
      await direct.zone.close();
    }
  });
});
