import OpenAI, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
} from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../origin/dev/provider.ts';
import { collect } from '../origin/dev/provider/reading.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openaiClient, WITH_COOKIE } from '../support/sdk.ts';
import {
  endedRecords,
  errorOf,
  expectServed,
  reached,
  recordingFetch,
  resetProviders,
  type Sent,
} from '../support/served.ts';

const messages = [{ role: 'user' as const, content: 'Grüezi – what is the weather? MARKER-PROMPT' }];
const chat = { model: 'support-chat', messages };
const weather = { name: 'weather', parameters: { type: 'object', properties: {} } };
const withTool = {
  ...chat,
  tools: [{ type: 'function' as const, function: weather }],
  tool_choice: 'required' as const,
};
const tokens = { input: 11, output: 22 };
const ANSWER = 'Answered by fra in eu-central-1 with fra.support-chat-20260101.';

let gateway: TestGateway;
let fra: Provider;
let sent: Sent;
let client: OpenAI;

const clientOf = (apiKey: string, more: ClientOptions = {}) =>
  openaiClient(gateway, { apiKey, defaultHeaders: WITH_COOKIE, fetch: sent.fetch, ...more });

beforeAll(async () => {
  gateway = await startGateway();
  fra = gateway.eu.provider('fra');
});
beforeEach(() => {
  sent = recordingFetch();
  client = clientOf(gateway.eu.key('acme'));
  fra.order({ usage: tokens });
});
afterEach(() => resetProviders(gateway));
afterAll(() => gateway.close());

const served = (response: Response, route: string, more: Partial<Parameters<typeof expectServed>[1]> = {}) =>
  expectServed(gateway, { headers: response.headers, endpoint: 'fra', route, tokens, ...more });

describe('the OpenAI SDK is served in its zone', () => {
  it('with a chat completion', async () => {
    const { data, response, request_id } = await client.chat.completions.create(chat).withResponse();
    expect(data.choices[0]?.message.content).toBe(ANSWER);
    expect(data.usage?.total_tokens).toBe(33);
    expect(request_id).toBe(response.headers.get('x-request-id'));
    await served(response, '/v1/chat/completions', { sent: sent.bodies[0] ?? '' });
  });

  it('with a streamed chat completion, its words as they came and its usage last', async () => {
    const { data, response } = await client.chat.completions
      .create({ ...chat, stream: true, stream_options: { include_usage: true } })
      .withResponse();
    const chunks = await collect(data);
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(ANSWER);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 33 } });
    await served(response, '/v1/chat/completions', { sent: sent.bodies[0] ?? '', streamed: true });
  });

  it('with a stream that reports no usage, whose tokens are then not guessed', async () => {
    const { data, response } = await client.chat.completions.create({ ...chat, stream: true }).withResponse();
    await collect(data);
    const none = { input: null, output: null };
    await served(response, '/v1/chat/completions', { streamed: true, tokens: none });
  });

  it('with a tool call', async () => {
    const { data, response } = await client.chat.completions.create(withTool).withResponse();
    expect(data.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { tool_calls: [{ function: { name: 'weather', arguments: '{"city":"Zürich"}' } }] },
    });
    await served(response, '/v1/chat/completions', { sent: sent.bodies[0] ?? '' });
  });

  it('with a streamed tool call', async () => {
    const stream = client.chat.completions.stream({ ...withTool, stream_options: { include_usage: true } });
    const answer = await stream.finalChatCompletion();
    expect(answer.choices[0]?.message.tool_calls?.[0]).toMatchObject({
      function: { name: 'weather', arguments: '{"city":"Zürich"}' },
    });
    const [response] = sent.responses;
    if (response) await served(response, '/v1/chat/completions', { streamed: true });
    expect(sent.responses).toHaveLength(1);
  });

  it('with the older completions, plain and streamed', async () => {
    const asked = { model: 'support-chat', prompt: 'Say' };
    const plain = await client.completions.create(asked).withResponse();
    expect(plain.data.choices[0]?.text).toBe(ANSWER);
    await served(plain.response, '/v1/completions', { sent: sent.bodies[0] ?? '' });
    fra.reset();

    const streamed = await client.completions.create({ ...asked, stream: true }).withResponse();
    const texts = (await collect(streamed.data)).map((chunk) => chunk.choices[0]?.text);
    expect(texts.join('')).toBe(ANSWER);
    const none = { input: null, output: null };
    await served(streamed.response, '/v1/completions', { streamed: true, tokens: none });
  });

  it('with a response', async () => {
    const { data, response } = await client.responses
      .create({ model: 'support-chat', input: 'Hello' })
      .withResponse();
    expect(data.output_text).toBe(ANSWER);
    await served(response, '/v1/responses', { sent: sent.bodies[0] ?? '' });
  });

  it('with a streamed response, its usage read on the way', async () => {
    const { data, response } = await client.responses
      .create({ model: 'support-chat', input: 'Hello', stream: true })
      .withResponse();
    const events = await collect(data);
    expect(events.at(-1)?.type).toBe('response.completed');
    expect(
      events.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : [])).join(''),
    ).toBe(ANSWER);
    await served(response, '/v1/responses', { sent: sent.bodies[0] ?? '', streamed: true });
  });

  it('with embeddings, the same as numbers and as the base64 that the SDK asks for by itself', async () => {
    const asked = { model: 'embed', input: ['one', 'two'] };
    const packed = await client.embeddings.create(asked).withResponse();
    expect(sent.bodies[0]).toContain('"encoding_format":"base64"');
    const embedding = { workload: 'embed', tokens: { input: 11, output: null } };
    await served(packed.response, '/v1/embeddings', { ...embedding, sent: sent.bodies[0] ?? '' });
    fra.reset();
    fra.order({ usage: tokens });

    const plain = await client.embeddings.create({ ...asked, encoding_format: 'float' }).withResponse();
    expect(plain.data.data.map((one) => one.embedding)).toEqual(packed.data.data.map((one) => one.embedding));
    expect(plain.data.data[0]?.embedding).toHaveLength(8);
    await served(plain.response, '/v1/embeddings', { ...embedding, sent: sent.bodies[1] ?? '' });
  });

  it('with an image', async () => {
    const { data, response } = await client.images
      .generate({ model: 'support-chat', prompt: 'A lake' })
      .withResponse();
    expect(
      Buffer.from(data.data?.[0]?.b64_json ?? '', 'base64')
        .subarray(1, 4)
        .toString(),
    ).toBe('PNG');
    await served(response, '/v1/images/generations', { sent: sent.bodies[0] ?? '' });
  });

  it('with an image whose workload only a header names', async () => {
    const { response } = await client.images
      .generate({ prompt: 'A lake' }, { headers: { 'x-workload': 'support-chat' } })
      .withResponse();
    const { body } = await served(response, '/v1/images/generations');
    expect(body.toString()).toBe(
      (sent.bodies[0] ?? '').replace('{', '{"model":"fra.support-chat-20260101",'),
    );
  });

  it('with speech, byte for byte as the endpoint sent it', async () => {
    const text = '\u0000\u0001\u007f ÿ € \r\n\n data: x\n\n 😀';
    fra.order({ text, usage: tokens });
    const response = await client.audio.speech.create({
      model: 'support-chat',
      voice: 'alloy',
      input: 'Hello',
    });
    expect(response.headers.get('content-type')).toBe('audio/mpeg');
    const audio = Buffer.concat([Buffer.from('ID3\u0004', 'latin1'), Buffer.from(text)]);
    expect(response.headers.get('content-length')).toBe(String(audio.length));
    expect(Buffer.from(await response.arrayBuffer()).equals(audio)).toBe(true);
    const none = { input: null, output: null };
    await served(response, '/v1/audio/speech', { sent: sent.bodies[0] ?? '', tokens: none });
  });

  it('with a moderation', async () => {
    const { data, response } = await client.moderations
      .create({ model: 'support-chat', input: ['a', 'b'] })
      .withResponse();
    expect(data.results.map(({ flagged }) => flagged)).toEqual([false, false]);
    const none = { input: null, output: null };
    await served(response, '/v1/moderations', { sent: sent.bodies[0] ?? '', tokens: none });
  });
});

describe('an upload by the OpenAI SDK', () => {
  const audio = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 31 + (index >> 8)) % 256));
  const formOf = (body: Buffer, contentType: string) =>
    new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();

  it('reaches the endpoint with its bytes unchanged and its model rewritten', async () => {
    const file = await OpenAI.toFile(audio, 'anruf – "1".wav', { type: 'audio/wav' });
    const { data, response } = await client.audio.transcriptions
      .create({ model: 'support-chat', file, language: 'de', temperature: 0.1 })
      .withResponse();
    expect(data.text).toBe(ANSWER);
    const upstream = await served(response, '/v1/audio/transcriptions');
    const form = await formOf(upstream.body, upstream.header('content-type') ?? '');
    expect(form.getAll('model')).toEqual(['fra.support-chat-20260101']);
    expect([form.get('language'), form.get('temperature')]).toEqual(['de', '0.1']);
    const received = form.get('file');
    if (!(received instanceof File)) throw new Error('no file came through');
    expect([received.type, Buffer.from(await received.arrayBuffer()).equals(audio)]).toEqual([
      'audio/wav',
      true,
    ]);
  });

  it('needs no model in its form where x-workload names the workload', async () => {
    const body = new FormData();
    body.set('file', new File([audio], 'call.wav', { type: 'audio/wav' }));
    const { response } = await client
      .post('/audio/transcriptions', { body, headers: { 'x-workload': 'support-chat' } })
      .withResponse();
    const upstream = await served(response, '/v1/audio/transcriptions');
    const form = await formOf(upstream.body, upstream.header('content-type') ?? '');
    expect([...form.keys()]).toEqual(['model', 'file']);
    const received = form.get('file');
    expect(received instanceof File && Buffer.from(await received.arrayBuffer()).equals(audio)).toBe(true);
  });

  it('is refused with no word of it where nothing names the workload', async () => {
    const body = new FormData();
    body.set('file', new File([audio], 'MARKER.wav'));
    const error = await errorOf(client.post('/audio/transcriptions', { body }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'workload_unknown' });
    expect(reached(gateway)).toEqual([]);
  });

  it('streams its transcript', async () => {
    const file = await OpenAI.toFile(audio, 'call.wav');
    const { data, response } = await client.audio.transcriptions
      .create({ model: 'support-chat', file, stream: true })
      .withResponse();
    const events = await collect(data);
    expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text: ANSWER });
    await served(response, '/v1/audio/transcriptions', { streamed: true });
  });
});

describe('the models that the OpenAI SDK lists', () => {
  it("are the tenant's workloads, and no endpoint is asked", async () => {
    const { data, response } = await client.models.list().withResponse();
    expect(data.data.map(({ id, object }) => [id, object])).toEqual([
      ['support-chat', 'model'],
      ['embed', 'model'],
    ]);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'x-residency-outcome': 'served',
      'x-residency-decided-by': 'origin',
      'x-residency-jurisdiction': 'eu',
      'x-residency-policy': 'eu-test@1.0.0',
    });
    expect(reached(gateway)).toEqual([]);
  });

  it("are those of the team where the key is a team's", async () => {
    const list = await clientOf(gateway.eu.key('acme', 'narrow')).models.list();
    expect(list.data.map(({ id }) => id)).toEqual(['embed']);
  });

  it('can be had one by one, and none that is not there', async () => {
    expect((await client.models.retrieve('support-chat')).id).toBe('support-chat');
    const error = await errorOf(client.models.retrieve('MARKER-MODEL'));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(String(error)).not.toContain('MARKER');
  });
});

describe('a caller with the OpenAI SDK who hangs up', () => {
  it("in the middle of a stream ends the call at the endpoint, which is recorded as the caller's doing", async () => {
    fra.order({ gate: 'frame' });
    const { data, response } = await client.chat.completions.create({ ...chat, stream: true }).withResponse();
    const held = await fra.waitFor(({ heldAt }) => heldAt === 'frame');
    data.controller.abort();
    expect(await held.closed).toBe('aborted');
    const records = await endedRecords(gateway.eu, response.headers.get('x-request-id') ?? '');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'interrupted']);
    expect(records.at(-1)).toMatchObject({ actor: 'client', endpoint: 'fra', streamed: true });
    expect(reached(gateway)).toHaveLength(1);
  });

  it.each([
    ['a plain call', false],
    ['a stream before its first token', true],
  ])('during %s starts no further attempt', async (_, stream) => {
    fra.order({ gate: stream ? 'first_token' : 'headers' });
    const abort = new AbortController();
    const headers = { 'x-request-id': `hang-up-${stream}` };
    const call = errorOf(
      client.chat.completions.create({ ...chat, stream }, { signal: abort.signal, headers }),
    );
    const held = await fra.waitFor(({ heldAt }) => heldAt !== undefined);
    abort.abort();
    expect(await call).toBeInstanceOf(APIUserAbortError);
    expect(await held.closed).toBe('aborted');
    const records = await endedRecords(gateway.eu, `hang-up-${stream}`);
    expect(records.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['pending', undefined],
      ['interrupted', 'client'],
    ]);
    expect(reached(gateway)).toHaveLength(1);
  });
});

describe('the OpenAI SDK gets its own kind of error', () => {
  const asked = (key: string, more: ClientOptions = {}, model = 'support-chat') =>
    errorOf(clientOf(key, more).chat.completions.create({ ...chat, model }));

  it('AuthenticationError for a key that is not valid', async () => {
    const key = `rgk_acme_${'x'.repeat(43)}`;
    const error = await asked(key);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error).toMatchObject({ status: 401, code: 'key_invalid', type: 'authentication_error' });
    expect(JSON.stringify(error)).not.toContain(key);
  });

  it('AuthenticationError for a revoked key', async () => {
    expect(await asked(gateway.eu.key('acme', 'revoked'))).toMatchObject({
      status: 401,
      code: 'key_revoked',
    });
  });

  it('PermissionDeniedError for a workload that the team may not call, with policy and request id', async () => {
    const error = await asked(gateway.eu.key('acme', 'narrow'));
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(error).toMatchObject({
      code: 'model_not_allowed',
      type: 'permission_error',
      error: { policy: 'eu-test@1.0.0', candidates: [], request_id: expect.any(String) },
    });
  });

  it('PermissionDeniedError for a team whose region lock leaves nothing, naming each candidate', async () => {
    const error = await asked(gateway.eu.key('acme', 'nowhere'));
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(error).toMatchObject({
      code: 'region_blocked',
      error: { candidates: expect.arrayContaining([expect.objectContaining({ endpoint: 'fra' })]) },
    });
  });

  it('PermissionDeniedError from the edge for a tenant of another zone', async () => {
    const error = await asked(gateway.eu.key('acme'), { defaultHeaders: { 'x-jurisdiction': 'us' } });
    expect(error).toBeInstanceOf(PermissionDeniedError);
    expect(error).toMatchObject({ code: 'jurisdiction_mismatch', param: 'x-jurisdiction' });
  });

  it('BadRequestError without a tag, which is never defaulted', async () => {
    const error = await asked(gateway.eu.key('acme'), { defaultHeaders: {} });
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'jurisdiction_missing' });
  });

  it('NotFoundError for an unknown workload', async () => {
    const error = await asked(gateway.eu.key('acme'), {}, 'MARKER-MODEL');
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'workload_unknown', param: 'model' });
    expect(String(error)).not.toContain('MARKER');
  });

  afterEach(() => expect(reached(gateway)).toEqual([]));
});

describe('what an endpoint says no to', () => {
  it("reaches the caller as BadRequestError in the endpoint's own words, and no record", async () => {
    fra.order({ status: 400, echo: ['prompt'] });
    const error = await errorOf(client.chat.completions.create(chat));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(error).toMatchObject({ code: 'invalid_value', type: 'invalid_request_error' });
    expect(String(error)).toContain('MARKER-PROMPT');
    if (!(error instanceof APIError)) throw new Error('not an API error');
    expect(error.headers?.get('x-residency-outcome')).toBe('failed');
    expect(error.headers?.get('x-debug-echo')).toBeNull();
    const records = await endedRecords(gateway.eu, error.headers?.get('x-request-id') ?? '');
    expect(records).toMatchObject([
      { kind: 'pending' },
      { kind: 'failed', code: 'upstream_rejected', status: 400, upstream_status: 400 },
    ]);
    expect(JSON.stringify(records)).not.toContain('MARKER');
    expect(reached(gateway)).toHaveLength(1);
  });
});

describe('the retries of the OpenAI SDK', () => {
  it('obey Retry-After of a zone that is down, and are served once it is up', async () => {
    const dub = gateway.eu.provider('dub');
    for (const provider of [fra, dub]) provider.order({ status: 503 }, { times: 1 });
    const { response } = await clientOf(gateway.eu.key('acme'), { maxRetries: 2 })
      .chat.completions.create(chat)
      .withResponse();
    expect(sent.responses.map(({ status }) => status)).toEqual([503, 200]);
    expect(sent.responses[0]?.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('x-residency-endpoint')).toBe('fra');
    expect(reached(gateway).map(({ endpoint }) => endpoint)).toEqual(['fra', 'fra', 'dub']);
  });

  it('end with InternalServerError that names every candidate where nothing is left', async () => {
    const dub = gateway.eu.provider('dub');
    for (const provider of [fra, dub]) provider.order({ status: 500 });
    const error = await errorOf(client.chat.completions.create(chat));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({
      status: 503,
      code: 'no_compliant_endpoint',
      type: 'no_compliant_endpoint',
      error: {
        policy: 'eu-test@1.0.0',
        candidates: expect.arrayContaining([
          { endpoint: 'fra', rejected: 'answered 500' },
          { endpoint: 'dub', rejected: 'answered 500' },
        ]),
      },
    });
    expect(reached(gateway).map(({ endpoint }) => endpoint)).toEqual(['fra', 'dub']);
  });
});

it("leaves nothing on record in any zone but the tenant's own", async () => {
  expect(await gateway.us.records()).toEqual([]);
});
