import OpenAI from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { OrderInput } from '../../origin/dev/provider.ts';
import { endpointOf } from '../support/admin.ts';
import { answerTo, chat, documentOf, presented } from '../support/calls.ts';
import { callOrigin, type DirectOrigin, resetZone, startDirect, TWO_OF_EACH } from '../support/direct.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { openaiClient } from '../support/sdk.ts';
import { endedRecords } from '../support/served.ts';

/** So that a single failure would show. */
const HEALTH = { probe: 'none', open_circuit_after: 1, half_open_after_seconds: 30, max_ttft_ms: 4_000 };

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ eu: { endpoints: TWO_OF_EACH, health: HEALTH } });
});
afterAll(() => gateway.close());
beforeEach(() => resetZone(gateway.eu));

type Events = NonNullable<OrderInput['events']>;

const event = (data: object, name?: string) => ({ data: JSON.stringify(data), ...(name && { event: name }) });
const ROLE = event({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
const CREATED = event({ type: 'response.created', response: {} }, 'response.created');
const STARTED = event({ type: 'message_start', message: { usage: { input_tokens: 1 } } }, 'message_start');
const WORDS = 'cannot identify the image';

const CHAT = { path: '/v1/chat/completions', first: 'fra', second: 'dub' };
const RESPONSES = { ...CHAT, path: '/v1/responses' };
const MESSAGES = { path: '/v1/messages', first: 'fra-messages', second: 'dub-messages' };

const call = (path: string) =>
  answerTo(gateway.edge.url, path, {
    headers: { ...presented('eu', gateway.eu.key('acme')), 'content-type': 'application/json' },
    body: chat('support-chat', 'hello', { input: 'hello', stream: true }),
  });

describe('a stream that begins with an error about the request is told as that error', () => {
  it.each<[string, typeof CHAT, number, Events]>([
    [
      'with a status as its code',
      CHAT,
      400,
      [event({ error: { message: WORDS, type: 'BadRequestError', code: 400 } }), { data: '[DONE]' }],
    ],
    ['behind a role', CHAT, 422, [ROLE, event({ error: { message: WORDS, code: '422' } })]],
    [
      'by its type',
      CHAT,
      400,
      [event({ error: { message: WORDS, type: 'invalid_request_error', code: null } })],
    ],
    ['in an event named so', CHAT, 400, [event({ message: WORDS, type: 'invalid_request_error' }, 'error')]],
    [
      'as a failed response',
      RESPONSES,
      400,
      [
        CREATED,
        event(
          { type: 'response.failed', response: { error: { code: 'invalid_image', message: WORDS } } },
          'response.failed',
        ),
      ],
    ],
    [
      'as an error of the Responses API',
      RESPONSES,
      400,
      [
        CREATED,
        event({ type: 'error', code: 'invalid_prompt', message: WORDS, sequence_number: 1 }, 'error'),
      ],
    ],
    [
      'as a message’s',
      MESSAGES,
      413,
      [STARTED, event({ type: 'error', error: { type: 'request_too_large', message: WORDS } }, 'error')],
    ],
  ])('%s', async (_, { path, first, second }, status, events) => {
    gateway.eu.provider(first).order({ events });
    const answer = await call(path);
    expect([answer.status, answer.headers['content-type']]).toEqual([status, 'application/json']);
    expect(documentOf(answer)).toMatchObject({ error: { message: WORDS } });
    expect(answer.headers).toMatchObject({ 'x-residency-outcome': 'failed', 'x-residency-endpoint': first });
    expect(gateway.eu.provider(second).receivedTotal).toBe(0);
    expect(await endedRecords(gateway.eu, String(answer.headers['x-request-id']))).toMatchObject([
      { kind: 'pending' },
      { kind: 'failed', code: 'upstream_rejected', status, upstream_status: 200, streamed: false },
    ]);
    expect((await endpointOf(gateway.eu, first)).state).toBe('closed');
  });

  it('and as the error that an SDK knows', async () => {
    gateway.eu.provider('fra').order({ events: [event({ error: { message: WORDS, code: 400 } })] });
    const stream = openaiClient(gateway).chat.completions.create({
      model: 'support-chat',
      messages: [{ role: 'user', content: 'hello' }],
      stream: true,
    });
    await expect(stream).rejects.toThrow(OpenAI.BadRequestError);
  });
});

it('ends a stream without harm to its endpoint where the error about the request comes behind content', async () => {
  const content = event({ choices: [{ index: 0, delta: { content: 'hi' } }] });
  gateway.eu.provider('fra').order({ events: [content, event({ error: { message: WORDS, code: 400 } })] });
  const answer = await call(CHAT.path);
  expect(answer.text).toContain(WORDS);
  const last = (await endedRecords(gateway.eu, String(answer.headers['x-request-id']))).at(-1);
  expect(last).toMatchObject({ kind: 'interrupted', code: 'upstream_interrupted' });
  expect((await endpointOf(gateway.eu, 'fra')).state).toBe('closed');
});

describe('an error that does not blame the request', () => {
  let direct: DirectOrigin;
  beforeAll(async () => {
    direct = await startDirect();
  });
  afterAll(() => direct.zone.close());

  it.each([
    { message: 'busy', code: 429 },
    { message: 'down', type: 'server_error', code: null },
    { message: 'no key', type: 'invalid_request_error', code: 'invalid_api_key' },
    { message: 'who', code: 401, type: 'invalid_request_error' },
    { message: 'what' },
  ])('sends the call on to the next endpoint: %j', async (error) => {
    direct.zone.provider('fra').order({ events: [event({ error })] });
    const { statusCode, headers, body } = await callOrigin(direct, CHAT.path, {
      body: chat('support-chat', 'hello', { stream: true }),
    });
    await body.text();
    expect([statusCode, headers['x-residency-endpoint']]).toEqual([200, 'dub']);
  });
});
