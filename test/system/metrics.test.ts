import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import { askAdmin, metricsText, type Sample, samplesOf } from '../support/admin.ts';
import { chat } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, resetZone, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { findMarks, marked } from '../support/marker-scan.ts';
import { endedRecords } from '../support/served.ts';
import { reportOf } from '../support/worded-assertion.ts';

const PATH = '/v1/chat/completions';
const HEALTH = { probe: 'none', open_circuit_after: 1_000, half_open_after_seconds: 30, max_ttft_ms: 4_000 };
const USAGE = { input: 7, output: 5 };

let clock: ManualClock;
let store: FaultyStore;
let direct: DirectOrigin;
let calls = 0;

const start = async (): Promise<void> => {
  clock = new ManualClock();
  direct = await startDirect({
    setup: { clock },
    health: HEALTH,
    wrapStore: (inner) => {
      store = new FaultyStore(inner);
      return store;
    },
    endpoints: [
      { id: 'fra', region: 'eu-central-1', regionHeader: 'x-served-from', credential: marked('credential') },
      { id: 'dub', region: 'eu-west-1' },
    ],
    tenants: [{ id: 'leakmark-tenant' }],
  });
  direct = { ...direct, tenant: 'leakmark-tenant' };
};

const provider = (id: string) => direct.zone.provider(id);
const order = (id: string, how: OrderInput) => provider(id).order(how, { times: 1 });

interface Asked {
  readonly model?: string;
  readonly stream?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

/** One call to its end; gives its status. */
async function ask({ model = 'support-chat', stream = false, headers, signal }: Asked = {}): Promise<number> {
  calls += 1;
  const answer = await callOrigin(direct, PATH, {
    headers: { 'x-request-id': `metric-${calls}`, ...headers },
    body: chat(model, marked('prompt'), {
      stream,
      ...(stream && { stream_options: { include_usage: true } }),
    }),
    ...(signal && { signal }),
  });
  await answer.body.text();
  return answer.statusCode;
}

const samples = async (): Promise<Sample[]> => samplesOf(await metricsText(direct.zone));

/** The samples of one metric, by the values of some of its labels; those that are zero are left out. */
async function count(name: string, ...labels: readonly string[]): Promise<Record<string, number>> {
  const found = (await samples()).filter((sample) => sample.name === name && sample.value !== 0);
  return Object.fromEntries(
    found.map((sample) => [labels.map((label) => sample.labels[label] ?? '').join(' '), sample.value]),
  );
}

/** A hang-up is noticed a little after it. */
const eventually = (expectation: () => Promise<void>): Promise<void> =>
  vi.waitFor(expectation, { timeout: 5_000, interval: 5 });

async function hangUpAtFrankfurt(): Promise<void> {
  order('fra', { gate: 'headers' });
  const aborter = new AbortController();
  const asking = ask({ signal: aborter.signal });
  await provider('fra').waitFor(({ heldAt }) => heldAt === 'headers');
  aborter.abort();
  await expect(asking).rejects.toThrow();
  await endedRecords(direct.zone, `metric-${calls}`);
}

async function reportRefusal(): Promise<void> {
  const iat = clock.now() / 1_000;
  const report = await reportOf(direct.edgeKey.private, 'eu', { claims: { iat, exp: iat + 60 } });
  const { statusCode, body } = await request(`${direct.zone.origin.url}/internal/refusals`, {
    method: 'POST',
    headers: { 'x-residency-assertion': report },
  });
  await body.dump();
  expect(statusCode).toBe(200);
}

describe('after a call of each outcome', () => {
  beforeAll(async () => {
    await start();
    order('fra', { usage: USAGE });
    expect(await ask()).toBe(200);
    order('fra', { usage: USAGE });
    expect(await ask({ stream: true })).toBe(200);
    order('fra', { status: 503 });
    expect(await ask()).toBe(200);
    order('fra', { status: 422, echo: ['prompt', 'credential'] });
    expect(await ask()).toBe(422);
    order('fra', { fault: { at: { contentFrames: 1 }, ending: 'cut' } });
    expect(await ask({ stream: true })).toBe(200);
    await hangUpAtFrankfurt();
    for (const id of ['fra', 'dub']) order(id, { status: 500 });
    expect(await ask()).toBe(503);
    expect(await ask({ model: marked('model') })).toBe(404);
    expect(await ask({ headers: { 'x-residency-assertion': 'none' } })).toBe(401);
    await reportRefusal();
    order('fra', { headers: { 'x-served-from': 'us-east-1' } });
    expect(await ask()).toBe(502);
    await eventually(async () => {
      const ended = (await samples()).filter(({ name }) => name === 'residency_requests_total');
      expect(ended.reduce((sum, { value }) => sum + value, 0)).toBe(11);
    });
  });
  afterAll(() => direct.zone.close());

  it('the requests are counted by outcome and code', async () => {
    expect(await count('residency_requests_total', 'route', 'workload', 'outcome', 'code')).toEqual({
      [`${PATH} support-chat served `]: 3,
      [`${PATH} support-chat failed upstream_rejected`]: 1,
      [`${PATH} support-chat interrupted upstream_interrupted`]: 1,
      [`${PATH} support-chat interrupted `]: 1,
      [`${PATH} support-chat failed no_compliant_endpoint`]: 1,
      [`${PATH} support-chat failed region_violation`]: 1,
      [`${PATH}  refused workload_unknown`]: 1,
      [`${PATH}  refused assertion_invalid`]: 1,
      '/internal/refusals  served ': 1,
    });
    expect(await count('residency_calls_under_way')).toEqual({});
  });

  it('the attempts are counted by endpoint and result, as the log has them', async () => {
    expect(await count('residency_attempts_total', 'endpoint', 'result')).toEqual({
      'fra completed': 2,
      'fra failed': 2,
      'fra rejected': 1,
      'fra interrupted': 1,
      'fra hung_up': 1,
      'fra violation': 1,
      'dub completed': 1,
      'dub failed': 1,
    });
    const pendings = (await direct.zone.records()).filter(({ kind }) => kind === 'pending');
    const attempts = Object.values(await count('residency_attempts_total', 'endpoint', 'result'));
    expect(attempts.reduce((sum, value) => sum + value)).toBe(pendings.length);
  });

  it('the refusals are counted by code and by who decided, those of the edge among them', async () => {
    expect(await count('residency_refusals_total', 'code', 'decided_by')).toEqual({
      'workload_unknown origin': 1,
      'assertion_invalid origin': 1,
      'tenant_unknown edge': 1,
    });
  });

  it('the violation is counted, and the circuit of its endpoint shows the quarantine and nothing else', async () => {
    expect(await count('residency_violations_total', 'endpoint', 'source', 'verdict')).toEqual({
      'fra response_header mismatch': 1,
    });
    expect(await count('residency_circuit_state', 'endpoint', 'state')).toEqual({
      'fra quarantined': 1,
      'dub closed': 1,
    });
    const states = (await samples()).filter(({ name }) => name === 'residency_circuit_state');
    expect(states).toHaveLength(2 * 6);
  });

  it('the tokens are those that the endpoints have counted, by type', async () => {
    const labels = [
      'gen_ai_token_type',
      'endpoint',
      'gen_ai_request_model',
      'gen_ai_operation_name',
    ] as const;
    const sums = await count('gen_ai_client_token_usage_sum', ...labels);
    expect(sums).toMatchObject({
      'input fra support-chat chat': 2 * USAGE.input,
      'output fra support-chat chat': 2 * USAGE.output,
    });
  });

  it('the times are there for each call and attempt, by the names of the conventions', async () => {
    expect(await count('gen_ai_server_request_duration_seconds_count', 'error_type')).toMatchObject({
      '': 3,
      no_compliant_endpoint: 1,
      interrupted: 1,
    });
    expect(await count('gen_ai_server_time_to_first_token_seconds_count', 'gen_ai_request_model')).toEqual({
      'support-chat': 2,
    });
    expect(await count('residency_time_to_first_byte_seconds_count', 'gen_ai_request_model')).toEqual({
      'support-chat': 3,
    });
    expect(await count('gen_ai_client_operation_time_to_first_chunk_seconds_count', 'endpoint')).toEqual({
      fra: 2,
    });
    expect(await count('residency_added_latency_seconds_count', 'route')).toEqual({ [PATH]: 5 });
  });

  it('the groups of the log add up to its records', async () => {
    const sum = await count('residency_ledger_group_records_sum');
    expect(Object.values(sum)).toEqual([(await direct.zone.records()).length]);
    expect(await count('residency_ledger_failing')).toEqual({});
    expect(await count('residency_ledger_queued_records')).toEqual({});
  });

  it('every sample says which zone it is of, and none holds a prompt, a key, a tenant or a caller’s words', async () => {
    const text = await metricsText(direct.zone);
    expect(samplesOf(text).every(({ labels }) => labels.jurisdiction === 'eu')).toBe(true);
    expect(findMarks(text, [...direct.zone.keys.values()])).toEqual([]);
    expect(text).not.toContain('metric-');
  });

  it('nobody reads them without the token', async () => {
    expect((await askAdmin(direct.zone, 'GET', '/metrics', undefined, {})).status).toBe(401);
  });
});

describe('under a thousand callers who make names up', () => {
  beforeAll(start);
  afterAll(() => direct.zone.close());

  it('there are no more series than before', async () => {
    const hostile = (name: string) =>
      callOrigin(direct, `/v1/${name}`, { headers: { 'x-workload': name }, body: chat(name) }).then(
        ({ body }) => body.dump(),
      );
    await ask({ model: 'none' });
    await hostile('none');
    const series = async () => (await samples()).length;
    const before = await series();
    for (let round = 0; round < 10; round += 1) {
      const names = Array.from({ length: 100 }, (_, index) => `hostile-${round}-${index}`);
      await Promise.all(names.flatMap((name) => [ask({ model: name }), hostile(name)]));
    }
    expect(await series()).toBe(before);
    expect(await metricsText(direct.zone)).not.toContain('hostile');
    expect(await count('residency_requests_total', 'route', 'code')).toEqual({
      [`${PATH} workload_unknown`]: 1_001,
      'other route_unknown': 1_001,
    });
  });
});

describe('the latency that the gateway adds', () => {
  beforeAll(start);
  afterAll(() => direct.zone.close());

  it('leaves out what the endpoint and the caller took, which the caller’s own times have in them', async () => {
    provider('fra').order({ gate: 'headers' });
    const asking = ask();
    await provider('fra').waitFor(({ heldAt }) => heldAt === 'headers');
    clock.advance(3_000);
    provider('fra').release('headers');
    expect(await asking).toBe(200);
    await eventually(async () =>
      expect(await count('gen_ai_server_request_duration_seconds_sum', 'error_type')).toEqual({ '': 3 }),
    );
    expect(await count('residency_time_to_first_byte_seconds_sum', 'gen_ai_operation_name')).toEqual({
      chat: 3,
    });
    expect(await count('residency_added_latency_seconds_sum', 'route')).toEqual({});
    expect(await count('residency_added_latency_seconds_count', 'route')).toEqual({ [PATH]: 1 });
  });

  it('has in it what the gateway itself waited for', async () => {
    resetZone(direct.zone);
    const letThrough = store.hold();
    const arrived = store.nextGroup();
    const asking = ask();
    await arrived;
    clock.advance(2_000);
    letThrough();
    expect(await asking).toBe(200);
    await eventually(async () =>
      expect(await count('residency_added_latency_seconds_sum', 'route')).toEqual({ [PATH]: 2 }),
    );
  });
});

describe('health probes', () => {
  beforeAll(async () => {
    clock = new ManualClock();
    direct = await startDirect({
      setup: { clock },
      health: { ...HEALTH, probe: 'synthetic_completion', interval_seconds: 1 },
      endpoints: [{ id: 'fra', region: 'eu-central-1' }],
    });
  });
  afterAll(() => direct.zone.close());

  it('are counted with what they cost, and are no calls of anybody', async () => {
    provider('fra').order({ usage: USAGE });
    clock.advance(1_000);
    await eventually(async () =>
      expect(await count('residency_probes_total', 'endpoint', 'outcome')).toEqual({ 'fra success': 1 }),
    );
    expect(await count('residency_probe_tokens_total', 'endpoint', 'type')).toEqual({
      'fra input': USAGE.input,
      'fra output': USAGE.output,
    });
    expect(await count('residency_requests_total', 'route')).toEqual({});
    expect(await count('residency_attempts_total', 'endpoint')).toEqual({});
  });
});
