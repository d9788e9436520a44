import { request } from 'undici';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import { answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, resetZone, TWO_OF_EACH } from '../support/direct.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicClient, openaiClient } from '../support/sdk.ts';
import { endedRecords } from '../support/served.ts';
import { modelOf } from '../support/zone.ts';

/** Silence that is allowed inside a stream, in ms. */
const IDLE_MS = 400;

let gateway: TestGateway;
let direct: DirectOrigin;

beforeAll(async () => {
  gateway = await startGateway({ limits: { stream_idle_ms: IDLE_MS }, eu: { endpoints: TWO_OF_EACH } });
  direct = { zone: gateway.eu, name: 'eu', edgeKey: gateway.edgeKey, tenant: 'acme' };
});
afterAll(() => gateway.close());
beforeEach(() => resetZone(gateway.eu));

const APIS = [
  { path: '/v1/chat/completions', first: 'fra', second: 'dub', terminator: '[DONE]' },
  { path: '/v1/responses', first: 'fra', second: 'dub', terminator: 'response.completed' },
  { path: '/v1/messages', first: 'fra-messages', second: 'dub-messages', terminator: 'message_stop' },
] as const;

const body = (model: string, stream = true) =>
  chat(model, 'hello', { input: 'hello', stream, stream_options: { include_usage: true } });

const ofAcme = (stream: boolean) => ({
  headers: { ...presented('eu', gateway.eu.key('acme')), 'content-type': 'application/json' },
  body: body('support-chat', stream),
});

const call = (path: string, stream = true) => answerTo(gateway.edge.url, path, ofAcme(stream));

/** What the endpoint itself says to the same call, byte for byte. */
async function said(path: string, endpoint: string, order: OrderInput): Promise<Buffer> {
  const provider = gateway.eu.provider(endpoint);
  provider.reset();
  provider.order(order);
  const answer = await request(provider.url + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: body(modelOf(endpoint, 'support-chat')),
  });
  const bytes = Buffer.from(await answer.body.arrayBuffer());
  provider.reset();
  return bytes;
}

const lastRecord = async (requestId: unknown) => (await endedRecords(gateway.eu, String(requestId))).at(-1);

const messages = [{ role: 'user' as const, content: 'hello' }];

/** Everything that an SDK hands out of a stream, and the error that it ends with. */
async function heard(stream: AsyncIterable<object>): Promise<{ text: string; error: unknown }> {
  let text = '';
  try {
    for await (const event of stream) text += JSON.stringify(event);
    return { text, error: undefined };
  } catch (error) {
    return { text, error };
  }
}

const TEXT = 'Grüße \u{1F30D} aus\u2028Zürich\u2029und\u0085Wien';
const USAGE = { input: 11, output: 22 };

describe.each(APIS)('a stream of $path', ({ path, first, second, terminator }) => {
  it.each<[string, OrderInput['wire']]>([
    ['as usual', {}],
    ['with CR LF, cut after every byte', { newline: 'crlf', split: 1 }],
    ['with CR alone', { newline: 'cr' }],
    ['with comments between, and no space behind the colon', { comments: true, space: false }],
    ['over several data lines', { multiline: true, split: 7 }],
    ['with a byte-order mark', { byteOrderMark: true }],
    ['without its last blank line', { finalBlankLine: false }],
    ['in one piece', { coalesce: true }],
  ])('written %s reaches the caller as it came, with its tokens on record', async (_, wire) => {
    const order: OrderInput = { text: TEXT, usage: USAGE, ...(wire && { wire }) };
    const expected = await said(path, first, order);
    gateway.eu.provider(first).order(order);
    const answer = await request(gateway.edge.url + path, { method: 'POST', ...ofAcme(true) });
    expect(Buffer.from(await answer.body.arrayBuffer())).toEqual(expected);
    expect(answer.headers['content-type']).toBe('text/event-stream; charset=utf-8');
    expect(await lastRecord(answer.headers['x-request-id'])).toMatchObject({
      kind: 'completed',
      streamed: true,
      response_bytes: expected.length,
      input_tokens: USAGE.input,
      output_tokens: USAGE.output,
    });
  });

  it('has null for tokens that nobody counted', async () => {
    gateway.eu.provider(first).order({ usage: null });
    const answer = await call(path);
    expect(await lastRecord(answer.headers['x-request-id'])).toMatchObject({
      kind: 'completed',
      input_tokens: null,
      output_tokens: null,
    });
  });

  it.each(['gzip', 'br'] as const)('encoded with %s is decoded, and still read', async (encoding) => {
    gateway.eu.provider(first).order({ encoding, text: TEXT, usage: USAGE });
    const answer = await call(path);
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(answer.text).toContain(terminator);
    expect(await lastRecord(answer.headers['x-request-id'])).toMatchObject({
      kind: 'completed',
      input_tokens: 11,
    });
  });

  it.each<[string, OrderInput['fault']]>([
    ['is cut', { at: { contentFrames: 2 }, ending: 'cut' }],
    ['ends too early, in good order', { at: { contentFrames: 2 }, ending: 'end' }],
    ['falls silent', { at: { contentFrames: 2 }, ending: 'silence' }],
  ])("ends with the API's error event and no terminator when it %s after two words", async (_, fault) => {
    gateway.eu.provider(first).order({ text: 'one two three four', ...(fault && { fault }) });
    const answer = await call(path);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain('two');
    expect(answer.text).not.toContain('three');
    expect(answer.text).not.toContain(terminator);
    const error = /data: (.*)\n\n$/.exec(answer.text)?.[1] ?? '';
    expect(JSON.parse(error)).toMatchObject({ error: { code: 'upstream_interrupted' } });
    expect(gateway.eu.provider(second).receivedTotal).toBe(0);
    expect(await lastRecord(answer.headers['x-request-id'])).toMatchObject({
      kind: 'interrupted',
      actor: 'endpoint',
      code: 'upstream_interrupted',
      status: 200,
    });
    expect(await gateway.eu.provider(first).received[0]?.closed).toBeDefined();
  });

  it.each(['silence', 'terminator', 'cut'] as const)(
    "ends at once with the endpoint's own error event, whatever follows it (%s)",
    async (ending) => {
      gateway.eu.provider(first).order({
        text: 'one two three',
        error: { message: 'the endpoint is overloaded' },
        fault: { at: { contentFrames: 2 }, errorEvent: true, ending },
      });
      const answer = await call(path);
      expect(answer.text).toContain('the endpoint is overloaded');
      expect(answer.text).not.toContain('upstream_interrupted');
      expect(answer.text).not.toContain(terminator);
      const record = await lastRecord(answer.headers['x-request-id']);
      expect(record).toMatchObject({ kind: 'interrupted', actor: 'endpoint' });
      expect(record?.latency_ms).toBeLessThan(IDLE_MS);
    },
  );

  it('is passed on as JSON where the endpoint answers a call for a stream with JSON', async () => {
    gateway.eu.provider(first).order({ plain: true, usage: USAGE });
    const answer = await call(path);
    expect([answer.status, answer.headers['content-type']]).toEqual([200, 'application/json']);
    expect(documentOf(answer)).toHaveProperty('usage');
    const record = await lastRecord(answer.headers['x-request-id']);
    expect(record).toMatchObject({ kind: 'completed', streamed: false, input_tokens: 11 });
  });

  it('is not begun twice for informational answers before it', async () => {
    gateway.eu.provider(first).order({ interim: [103, 103] });
    const answer = await call(path);
    expect([answer.status, answer.headers['x-residency-attempts']]).toEqual([200, '1']);
  });

  it('ends as soon as its terminator is there, whatever the endpoint does with the connection', async () => {
    gateway.eu.provider(first).order({ gate: 'close' });
    const answer = await call(path);
    expect(answer.text).toContain(terminator);
    expect((await lastRecord(answer.headers['x-request-id']))?.kind).toBe('completed');
    gateway.eu.provider(first).release('close');
  });
});

describe('a stream whose finish reason came, but not its end', () => {
  it('is ended properly, whether the connection closes or falls silent', async () => {
    const order = (ending: 'end' | 'cut' | 'silence'): OrderInput => ({
      fault: { at: 'before_terminator', ending },
    });
    const cases = [
      { path: '/v1/chat/completions', endpoint: 'fra', terminator: 'data: [DONE]\n\n' },
      { path: '/v1/messages', endpoint: 'fra-messages', terminator: '"message_stop"}\n\n' },
    ];
    for (const ending of ['end', 'cut', 'silence'] as const) {
      for (const { endpoint } of cases) gateway.eu.provider(endpoint).order(order(ending));
      const answers = await Promise.all(cases.map(({ path }) => call(path)));
      for (const [index, answer] of answers.entries()) {
        expect(answer.text.endsWith(cases[index]?.terminator ?? 'none')).toBe(true);
        expect((await lastRecord(answer.headers['x-request-id']))?.kind).toBe('completed');
      }
    }
  });
});

describe('through the SDKs', () => {
  const order: OrderInput = { text: 'one two three', fault: { at: { contentFrames: 2 }, ending: 'cut' } };

  it('an interrupted chat raises an error behind the words that came', async () => {
    gateway.eu.provider('fra').order(order);
    const stream = await openaiClient(gateway).chat.completions.create({
      model: 'support-chat',
      messages,
      stream: true,
    });
    const { text, error } = await heard(stream);
    expect(text).toContain('two');
    expect(error).toMatchObject({ code: 'upstream_interrupted' });
  });

  it('an interrupted response raises an error behind the words that came', async () => {
    gateway.eu.provider('fra').order(order);
    const stream = await openaiClient(gateway).responses.create({
      model: 'support-chat',
      input: 'hello',
      stream: true,
    });
    const { text, error } = await heard(stream);
    expect(text).toContain('two');
    expect(error).toMatchObject({ code: 'upstream_interrupted' });
  });

  it('an interrupted message raises an error behind the words that came', async () => {
    gateway.eu.provider('fra-messages').order(order);
    const stream = await anthropicClient(gateway).messages.create({
      model: 'support-chat',
      max_tokens: 9,
      messages,
      stream: true,
    });
    const { text, error } = await heard(stream);
    expect(text).toContain('two');
    expect(error).toMatchObject({ error: { error: { code: 'upstream_interrupted' } } });
  });

  it('a tool call arrives whole, in both APIs', async () => {
    const tool = { name: 'weather', description: 'weather', parameters: { type: 'object' } };
    const chatStream = await openaiClient(gateway).chat.completions.create({
      model: 'support-chat',
      messages,
      stream: true,
      tools: [{ type: 'function', function: tool }],
      tool_choice: 'required',
    });
    expect((await heard(chatStream)).text).toContain('tool_calls');
    const messageStream = anthropicClient(gateway).messages.stream({
      model: 'support-chat',
      max_tokens: 9,
      messages,
      tools: [{ name: 'weather', input_schema: { type: 'object' } }],
      tool_choice: { type: 'any' },
    });
    expect((await messageStream.finalMessage()).content[0]).toMatchObject({ input: { city: 'Zürich' } });
  });
});

describe('a plain answer', () => {
  it.each(['gzip', 'br'] as const)('encoded with %s is decoded, as is an error', async (encoding) => {
    gateway.eu.provider('fra').order({ encoding, usage: USAGE });
    const answer = await call('/v1/chat/completions', false);
    expect(answer.headers).not.toHaveProperty('content-encoding');
    expect(documentOf(answer)).toHaveProperty('choices');
    expect(await lastRecord(answer.headers['x-request-id'])).toMatchObject({
      input_tokens: 11,
      output_tokens: 22,
    });
    gateway.eu.provider('fra').order({ encoding, status: 400, error: { message: 'the verdict' } });
    const refused = await call('/v1/chat/completions', false);
    expect(documentOf(refused)).toMatchObject({ error: { message: 'the verdict' } });
  });

  it('keeps its length, so that one that is cut is seen to be broken, through the edge and without', async () => {
    const order: OrderInput = { textBytes: 400_000, fault: { at: { bytes: 200_000 }, ending: 'cut' } };
    gateway.eu.provider('fra').order(order);
    await expect(call('/v1/chat/completions', false)).rejects.toThrow();
    await expect(
      callOrigin(direct, '/v1/chat/completions', { body: body('support-chat', false) }).then((answer) =>
        answer.body.text(),
      ),
    ).rejects.toThrow();
    const ends = (await gateway.eu.records()).filter(({ kind }) => kind === 'interrupted').slice(-2);
    expect(ends).toMatchObject([{ actor: 'endpoint' }, { actor: 'endpoint', code: 'upstream_interrupted' }]);
  });

  it('is broken by silence in its middle', async () => {
    gateway.eu
      .provider('fra')
      .order({ textBytes: 4_000, fault: { at: { bytes: 2_000 }, ending: 'silence' } });
    await expect(call('/v1/chat/completions', false)).rejects.toThrow();
  });

  it('without a length arrives whole', async () => {
    gateway.eu.provider('fra').order({ chunked: true, textBytes: 300_000 });
    const answer = await call('/v1/chat/completions', false);
    expect(answer.text.length).toBeGreaterThan(300_000);
  });
});
