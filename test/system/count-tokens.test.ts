import { afterEach, describe, expect, it } from 'vitest';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { ZoneSpec } from '../support/zone.ts';

const COUNT = '/v1/messages/count_tokens';
const ASKED = {
  model: 'support-chat',
  system: 'MARKER-PROMPT Antworte kurz – bitte.',
  messages: [{ role: 'user', content: 'hello' }],
};

let direct: DirectOrigin;
afterEach(() => direct.zone.close());

const counter = (id: string) => direct.zone.provider(id);

const start = async (spec: Partial<ZoneSpec> = {}) => {
  direct = await startDirect({
    setup: { clock: new ManualClock() },
    endpoints: [
      { id: 'chat', region: 'eu-west-1' },
      { id: 'fra', region: 'eu-central-1', provider: 'anthropic' },
      { id: 'dub', region: 'eu-west-1', provider: 'anthropic' },
    ],
    tenants: [
      {
        id: 'acme',
        teams: {
          dublin: { allowed_regions: ['eu-west-1'] },
          nowhere: { allowed_regions: ['eu-north-1'] },
          writers: { workloads: [] },
        },
        keys: ['dublin', 'nowhere', 'writers'].map((team) => ({ id: team, team })),
      },
    ],
    ...spec,
  });
};

async function count(key = 'main', asked: object = ASKED) {
  const answer = await callOrigin(direct, COUNT, {
    body: JSON.stringify(asked),
    headers: { authorization: `Bearer ${direct.zone.key('acme', key)}`, 'x-request-id': 'counted' },
  });
  return { status: answer.statusCode, headers: answer.headers, body: JSON.parse(await answer.body.text()) };
}

const reached = () => [...direct.zone.providers.values()].reduce((sum, one) => sum + one.receivedTotal, 0);
const kinds = async () => (await direct.zone.recordsOf('counted')).map(({ kind }) => kind);

describe('a count of tokens', () => {
  it('is made by an endpoint inside the team’s lock, and by none outside it', async () => {
    await start();
    counter('dub').order({ usage: { input: 17, output: 0 } });
    const answer = await count('dublin');
    expect([answer.status, answer.body]).toEqual([200, { input_tokens: 17 }]);
    expect(answer.headers).not.toHaveProperty('x-residency-estimate');
    expect(answer.headers['x-residency-endpoint']).toBe('dub');
    expect(counter('fra').receivedTotal).toBe(0);
    await expect.poll(kinds, { timeout: 10_000 }).toEqual(['pending', 'served', 'completed']);
  });

  it('is estimated here where the lock leaves no counter, and goes nowhere', async () => {
    await start();
    const answer = await count('nowhere');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual({ input_tokens: 15 });
    expect(answer.headers).toMatchObject({
      'x-residency-estimate': 'true',
      'x-residency-outcome': 'served',
      'x-residency-decided-by': 'origin',
    });
    expect(answer.headers).not.toHaveProperty('x-residency-endpoint');
    expect(answer.headers).not.toHaveProperty('x-residency-receipt');
    expect(reached()).toBe(0);
    const [record, ...others] = await direct.zone.recordsOf('counted');
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      kind: 'served',
      actor: 'gateway',
      status: 200,
      selection_reason: 'local estimate: no endpoint is left to count (region_blocked)',
    });
    expect(record?.candidates?.map(({ endpoint }) => endpoint)).toEqual(['chat', 'fra', 'dub']);
    for (const member of ['endpoint', 'pending_id', 'input_tokens', 'serving_region'])
      expect(record).not.toHaveProperty(member);
    expect(JSON.stringify(record) + direct.zone.logLines.join('')).not.toContain('MARKER');
  });

  it('is estimated where every counter fails, each attempt being on record', async () => {
    await start();
    counter('fra').order({ status: 503 });
    counter('dub').order({ status: 429 });
    const answer = await count();
    expect([answer.status, answer.headers['x-residency-estimate']]).toEqual([200, 'true']);
    expect(answer.headers['x-residency-attempts']).toBe('2');
    expect(await kinds()).toEqual(['pending', 'failed', 'pending', 'failed', 'served']);
    const ends = (await direct.zone.recordsOf('counted')).filter(({ kind }) => kind === 'failed');
    expect(ends.map(({ status, code }) => [status, code])).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it('is estimated where every circuit is open, without an attempt', async () => {
    await start({ health: { probe: 'none', open_circuit_after: 1, half_open_after_seconds: 30 } });
    counter('fra').order({ status: 503 });
    counter('dub').order({ status: 503 });
    await count();
    const before = reached();
    const answer = await count();
    expect([answer.status, answer.headers['x-residency-estimate']]).toEqual([200, 'true']);
    expect(reached()).toBe(before);
    expect((await direct.zone.recordsOf('counted')).at(-1)).toMatchObject({
      kind: 'served',
      selection_reason: 'local estimate: no endpoint is left to count (no_compliant_endpoint)',
    });
  });

  it('is not sent to a counter whose bodies alone could show its region, where the policy asks to see it', async () => {
    await start({
      allow: { region_evidence: 'response_body' },
      amend: (config) => ({
        ...config,
        registry: new Map([...config.registry].map(([id, one]) => [id, { ...one, regionBody: ['region'] }])),
      }),
    });
    const answer = await count();
    expect([answer.status, answer.headers['x-residency-estimate']]).toEqual([200, 'true']);
    expect(reached()).toBe(0);
    const [record] = await direct.zone.recordsOf('counted');
    expect(JSON.stringify(record?.candidates)).toContain('its counts cannot show its region');
  });

  it('is not sent to a counter that only other requests tell where to run', async () => {
    const pin = { member: 'inference_geo', value: 'us', route: '/v1/messages' } as const;
    await start({
      amend: (config) => ({
        ...config,
        registry: new Map([...config.registry].map(([id, one]) => [id, { ...one, pin }])),
      }),
    });
    const answer = await count();
    expect([answer.status, answer.headers['x-residency-estimate']]).toEqual([200, 'true']);
    expect(reached()).toBe(0);
    const [record] = await direct.zone.recordsOf('counted');
    expect(JSON.stringify(record?.candidates)).toContain('told where to run by other requests alone');
  });

  it('is refused like every other call where the caller may not use the workload', async () => {
    await start();
    const answer = await count('writers');
    expect([answer.status, answer.body.error.code]).toEqual([403, 'model_not_allowed']);
    expect((await count('main', { ...ASKED, model: 'unheard-of' })).body.error.code).toBe('workload_unknown');
  });

  it('is told as the endpoint’s verdict where the request is wrong', async () => {
    await start();
    counter('fra').order({ status: 400 });
    const answer = await count();
    expect([answer.status, answer.headers['x-residency-endpoint']]).toEqual([400, 'fra']);
    expect(answer.headers).not.toHaveProperty('x-residency-estimate');
  });
});
