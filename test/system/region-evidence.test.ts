import { afterEach, describe, expect, it } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import { providerOf } from '../../origin/endpoints/provider.ts';
import { askAdmin, endpointOf } from '../support/admin.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import type { EndpointSpec, ZoneSpec } from '../support/zone.ts';

const HEALTH = { probe: 'none', open_circuit_after: 3, half_open_after_seconds: 30, max_ttft_ms: 4_000 };
const SECRET = 'MARKER-ANSWER';

const CHAT = '/v1/chat/completions';
const MESSAGES = '/v1/messages';

/** A first endpoint that lies, and a second that is what it says. */
const PAIRS = {
  [CHAT]: [
    { id: 'liar', region: 'eu-central-1', regionHeader: 'x-ran-in' },
    { id: 'honest', region: 'eu-west-1' },
  ],
  [MESSAGES]: [
    { id: 'liar', region: 'eu-central-1', provider: 'anthropic' },
    { id: 'honest', region: 'eu-west-1', provider: 'anthropic' },
  ],
} as const satisfies Record<string, readonly EndpointSpec[]>;

type Events = NonNullable<OrderInput['events']>;

const BODY_PATH: Readonly<Record<string, readonly string[]>> = {
  openai: ['meta', 'region'],
  anthropic: ['usage', 'inference_geo'],
};

let direct: DirectOrigin;
afterEach(() => direct.zone.close());

const liar = () => direct.zone.provider('liar');
const honest = () => direct.zone.provider('honest');

async function start(route: keyof typeof PAIRS, spec: Partial<ZoneSpec> = {}): Promise<void> {
  direct = await startDirect({
    setup: { clock: new ManualClock() },
    health: HEALTH,
    endpoints: PAIRS[route],
    // Each says in its bodies where it ran, under the name that its API has for it.
    amend: (config) => ({
      ...config,
      registry: new Map(
        [...config.registry].map(([id, one]) => [
          id,
          { ...one, regionBody: BODY_PATH[providerOf(one.provider).api] ?? [] },
        ]),
      ),
    }),
    ...spec,
  });
}

/** @param begun called once the head of the answer is there */
async function call(
  route: keyof typeof PAIRS,
  id: string,
  more: object = {},
  begun: () => void = () => undefined,
  signal?: AbortSignal,
) {
  const body = JSON.stringify({
    model: 'support-chat',
    max_tokens: 64,
    messages: [{ role: 'user', content: 'hello' }],
    ...more,
  });
  const answer = await callOrigin(direct, route, {
    body,
    headers: { 'x-request-id': id },
    ...(signal && { signal }),
  });
  begun();
  return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() };
}

const recordsOf = async (id: string) => await direct.zone.recordsOf(id);

/** The call is withheld and on record, and the endpoint meets no other. */
async function expectWithheld(route: keyof typeof PAIRS, more: object, region: string, source: string) {
  const answer = await call(route, 'lied', more);
  expect(answer.status).toBe(502);
  expect(JSON.parse(answer.text)).toMatchObject({ error: { code: 'region_violation' } });
  expect(answer.text + JSON.stringify(answer.headers)).not.toContain(SECRET);
  expect(answer.headers).not.toHaveProperty('x-residency-receipt');
  expect(honest().receivedTotal).toBe(0);
  const records = await recordsOf('lied');
  expect(records.map(({ kind }) => kind)).toEqual(['pending', 'violation']);
  expect(records[1]).toMatchObject({
    endpoint: 'liar',
    code: 'region_violation',
    status: 502,
    serving_region: region,
    region_source: source,
    region_verdict: 'mismatch',
  });
  await expectQuarantined(route);
}

async function expectQuarantined(route: keyof typeof PAIRS): Promise<void> {
  liar().order({});
  const before = liar().receivedTotal;
  const next = await call(route, 'next');
  expect([next.status, next.headers['x-residency-endpoint']]).toEqual([200, 'honest']);
  expect(liar().receivedTotal).toBe(before);
  const control = (await direct.zone.records()).find(({ kind }) => kind === 'control');
  expect(control).toMatchObject({ endpoint: 'liar', actor: 'gateway' });
  expect(control?.selection_reason).toContain('circuit closed to quarantined');
  expect(direct.zone.logLines.join('')).toContain('region violation: the endpoint is quarantined');
}

const chatSaying = (meta: unknown) =>
  JSON.stringify({
    id: 'x',
    object: 'chat.completion',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: SECRET } }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    ...(meta === undefined ? {} : { meta }),
  });

const chunk = (content: string, finish: string | null, more: object = {}) => ({
  data: JSON.stringify({
    object: 'chat.completion.chunk',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
    ...more,
  }),
});

const ABROAD = { region: 'us-east-1' };

describe('nothing of an answer reaches the caller when', () => {
  it.each<[string, keyof typeof PAIRS, object, OrderInput, string, string]>([
    [
      'its header names two places, one of them its own',
      CHAT,
      {},
      { headers: { 'x-ran-in': ['eu-central-1', 'us-east-1'] } },
      'unreadable',
      'response_header',
    ],
    [
      'its header names another zone twice',
      CHAT,
      {},
      { headers: { 'x-ran-in': ['us-east-1', 'us-east-1'] } },
      'us-east-1',
      'response_header',
    ],
    [
      'its header names another zone',
      CHAT,
      {},
      said({ 'x-ran-in': 'US-East-1' }),
      'us-east-1',
      'response_header',
    ],
    ['its header cannot be read', CHAT, {}, said({ 'x-ran-in': 'eu, us' }), 'unreadable', 'response_header'],
    [
      'its header is right and its body names another zone',
      CHAT,
      {},
      { headers: { 'x-ran-in': 'eu-central-1' }, body: chatSaying(ABROAD) },
      'us-east-1',
      'response_body',
    ],
    [
      'its body says so compressed, and in pieces',
      CHAT,
      {},
      { body: chatSaying(ABROAD), encoding: 'gzip', chunked: true, wire: { split: 16 } },
      'us-east-1',
      'response_body',
    ],
    [
      'its body says it twice, the second time truly',
      CHAT,
      {},
      {
        body: chatSaying(ABROAD)
          .replace('"usage"', '"meta":{"region":"us-east-1"},"usage"')
          .replace(/,"meta":\{"region":"us-east-1"\}\}$/, ',"meta":{"region":"eu-central-1"}}'),
      },
      'us-east-1',
      'response_body',
    ],
    [
      'its stream says so before its first content',
      CHAT,
      { stream: true },
      { events: [chunk('', null, { meta: ABROAD }), chunk(SECRET, 'stop'), { data: '[DONE]' }] },
      'us-east-1',
      'response_body',
    ],
    [
      'its stream’s header does',
      CHAT,
      { stream: true },
      said({ 'x-ran-in': 'London' }),
      'london',
      'response_header',
    ],
    [
      'a message says that it ran anywhere',
      MESSAGES,
      {},
      { inferenceGeo: 'global', text: SECRET },
      'global',
      'response_body',
    ],
    [
      'a streamed message says at its start that it ran in us',
      MESSAGES,
      { stream: true },
      { inferenceGeo: 'us', text: SECRET },
      'us',
      'response_body',
    ],
    [
      'it is an error from another zone',
      CHAT,
      {},
      { status: 422, ...said({ 'x-ran-in': 'eastus' }) },
      'eastus',
      'response_header',
    ],
    [
      'it is a failure from another zone',
      CHAT,
      {},
      { status: 503, ...said({ 'x-ran-in': 'eastus' }) },
      'eastus',
      'response_header',
    ],
  ])('%s', async (_, route, more, order, region, source) => {
    await start(route);
    liar().order({ text: SECRET, ...order });
    await expectWithheld(route, more, region, source);
  });

  it('a stream from another zone fails before its first content', async () => {
    await start(MESSAGES);
    liar().order({ inferenceGeo: 'us', fault: { at: 'before_content', ending: 'cut' } });
    await expectWithheld(MESSAGES, { stream: true }, 'us', 'response_body');
  });
});

function said(headers: Record<string, string>): OrderInput {
  return { headers };
}

describe('evidence that comes too late', () => {
  const late = (...after: Events): OrderInput => ({
    gate: 'frame',
    events: [
      chunk('hello', null),
      { data: JSON.stringify({ choices: [], meta: ABROAD }) },
      ...after,
      { data: '[DONE]' },
    ],
  });

  it.each<[string, Events]>([
    ['in the middle', [chunk(SECRET, null), chunk(SECRET, 'stop')]],
    ['at the end', []],
  ])('%s of a stream cuts it there, as a violation, and takes the endpoint out', async (_, after) => {
    await start(CHAT);
    liar().order(late(...after));
    const answer = await call(CHAT, 'late', { stream: true }, () => liar().release('frame'));
    expect(answer.status).toBe(200);
    expect(answer.headers['x-residency-region-source']).toBe('declared');
    const events = answer.text.split('\n\n').filter((event) => event.trim() !== '');
    expect(events).toHaveLength(2);
    expect(events[0]).toContain('hello');
    expect(JSON.parse(events[1]?.replace(/^\s*data: /, '') ?? '')).toMatchObject({
      error: { code: 'region_violation' },
    });
    await expectQuarantined(CHAT);
    await expect
      .poll(async () => (await recordsOf('late')).map(({ kind }) => kind))
      .toEqual(['pending', 'served', 'violation']);
    const [, served, violation] = await recordsOf('late');
    expect(served).toMatchObject({ region_source: 'declared', region_verdict: 'unverified' });
    expect(violation).toMatchObject({
      serving_region: 'us-east-1',
      region_source: 'response_body',
      region_verdict: 'mismatch',
      code: 'region_violation',
      status: 200,
    });
  });

  it('behind more than is held back breaks the connection, as nothing else says that a body is not whole', async () => {
    await start(CHAT);
    liar().order({ body: chatSaying(ABROAD).replace(SECRET, 'x'.repeat(1_500_000)) });
    await expect(call(CHAT, 'long')).rejects.toThrow();
    await expectQuarantined(CHAT);
    await expect
      .poll(async () => (await recordsOf('long')).map(({ kind }) => kind))
      .toEqual(['pending', 'served', 'violation']);
  });

  it('betters the record where it is of the right place', async () => {
    await start(CHAT);
    liar().order({
      events: [
        chunk('hi', 'stop'),
        { data: JSON.stringify({ choices: [], meta: { region: 'EU-Central-1' } }) },
        { data: '[DONE]' },
      ],
    });
    await call(CHAT, 'bettered', { stream: true });
    await expect
      .poll(async () => (await recordsOf('bettered')).at(-1))
      .toMatchObject({ kind: 'completed', region_source: 'response_body', region_verdict: 'match' });
  });
});

describe('evidence that has arrived counts, whatever becomes of the call:', () => {
  it.each<[string, object, OrderInput, string]>([
    ['in the head of a stream', { stream: true }, said({ 'x-ran-in': 'us-east-1' }), 'response_header'],
    ['in the head of a plain answer', {}, said({ 'x-ran-in': 'us-east-1' }), 'response_header'],
    [
      'in a first event',
      { stream: true },
      { events: [chunk('', null, { meta: ABROAD }), chunk(SECRET, 'stop'), { data: '[DONE]' }] },
      'response_body',
    ],
  ])('its caller hangs up, %s', async (_, more, order, source) => {
    await start(CHAT);
    const gate = source === 'response_body' ? 'frame' : 'first_token';
    liar().order({ ...order, gate });
    const hangUp = new AbortController();
    const gone = call(CHAT, 'gone', more, undefined, hangUp.signal);
    await liar().waitFor(({ heldAt }) => heldAt === gate);
    // Whoever asks after it has been sent gets the answer after it has arrived.
    await askAdmin(direct.zone, 'GET', '/admin/endpoints');
    hangUp.abort();
    await expect(gone).rejects.toThrow();
    await expect
      .poll(async () => (await recordsOf('gone')).map(({ kind }) => kind))
      .toEqual(['pending', 'violation']);
    expect((await recordsOf('gone'))[1]).toMatchObject({
      actor: 'client',
      serving_region: 'us-east-1',
      region_source: source,
      region_verdict: 'mismatch',
      code: 'region_violation',
    });
    await expectQuarantined(CHAT);
  });

  it('it comes while the release of an older quarantine is being written', async () => {
    let store: FaultyStore | undefined;
    await start(CHAT, { wrapStore: (inner) => (store = new FaultyStore(inner)) });
    liar().order({ gate: 'headers', ...said({ 'x-ran-in': 'us-east-1' }) }, { times: 1 });
    const slow = call(CHAT, 'slow');
    await liar().waitFor(({ heldAt }) => heldAt === 'headers');
    liar().order(said({ 'x-ran-in': 'us-west-2' }));
    expect((await call(CHAT, 'quick')).status).toBe(502);

    const written = store?.hold();
    const arrived = store?.nextGroup();
    const order = { by: 'a.person', why: 'the provider has mended it' };
    const release = askAdmin(direct.zone, 'POST', '/admin/endpoints/liar/release', order);
    await arrived;
    liar().release('headers');
    const found = /region violation: the endpoint is quarantined/g;
    await expect.poll(() => direct.zone.logLines.join('').match(found)).toHaveLength(2);
    written?.();
    expect((await release).status).toBe(409);
    expect((await slow).status).toBe(502);
    expect(await endpointOf(direct.zone, 'liar')).toMatchObject({
      state: 'quarantined',
      evidence: { region: 'us-east-1' },
    });
    await direct.zone.restart();
    expect((await endpointOf(direct.zone, 'liar')).state).toBe('quarantined');
    const again = await askAdmin(direct.zone, 'POST', '/admin/endpoints/liar/release', order);
    expect([again.status, (await endpointOf(direct.zone, 'liar')).state]).toEqual([200, 'half_open']);
  });
});

describe('evidence of the right place', () => {
  it.each(['Sweden Central', 'swedencentral', 'SwedenCentral'])(
    'is read whatever its spelling: %s',
    async (region) => {
      await start(CHAT, { endpoints: [{ id: 'liar', region: 'swedencentral', provider: 'azure-openai' }] });
      liar().order({ region });
      const answer = await call(CHAT, 'azure');
      expect(answer.headers).toMatchObject({
        'x-residency-region': 'swedencentral',
        'x-residency-region-source': 'response_header',
      });
      const [, served] = await recordsOf('azure');
      expect(served).toMatchObject({ serving_region: 'swedencentral', region_verdict: 'match' });
    },
  );

  it('from another region inside the policy is served, and the record says that it was another', async () => {
    await start(CHAT);
    liar().order({ body: chatSaying({ region: 'eu-north-1' }) });
    const answer = await call(CHAT, 'moved');
    expect([answer.status, answer.headers['x-residency-region']]).toEqual([200, 'eu-north-1']);
    const [, served] = await recordsOf('moved');
    expect(served).toMatchObject({ region_verdict: 'mismatch', region_source: 'response_body' });
  });

  it('that an answer breaks off before is no answer yet: the next endpoint gives one', async () => {
    await start(CHAT);
    liar().order({ body: chatSaying({ region: 'eu-central-1' }), overstateLength: 10 });
    const answer = await call(CHAT, 'broken');
    expect([answer.status, answer.headers['x-residency-endpoint']]).toEqual([200, 'honest']);
    expect(answer.text).not.toContain(SECRET);
  });
});

describe('a policy that asks for a grade of evidence', () => {
  const allow = { region_evidence: 'response_header' };
  const endpoints: readonly EndpointSpec[] = [
    { id: 'liar', region: 'eu-central-1', regionHeader: 'x-ran-in' },
    { id: 'honest', region: 'eu-west-1', regionHeader: 'x-ran-in' },
  ];

  it('withholds an answer that gives a weaker one, which is no fault of its endpoint’s health', async () => {
    await start(CHAT, { allow, endpoints });
    liar().order({ text: SECRET });
    for (const id of ['one', 'two', 'three', 'four']) {
      const answer = await call(CHAT, id, { stream: id === 'two' });
      expect(answer.status).toBe(502);
      expect(answer.text).not.toContain(SECRET);
      const records = await recordsOf(id);
      expect(records.map(({ kind }) => kind)).toEqual(['pending', 'violation']);
      expect(records[1]).toMatchObject({ region_verdict: 'unverified', region_source: 'declared' });
    }
    liar().order({ headers: { 'x-ran-in': 'eu-central-1' } });
    const next = await call(CHAT, 'five');
    expect([next.status, next.headers['x-residency-endpoint']]).toEqual([200, 'liar']);
  });

  it('passes a verdict on the request on, which those give who need not know where a model runs', async () => {
    await start(CHAT, { allow, endpoints });
    liar().order({ status: 422 });
    expect((await call(CHAT, 'verdict')).status).toBe(422);
  });
});
