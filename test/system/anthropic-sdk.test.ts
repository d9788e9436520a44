import Anthropic, {
  APIError,
  APIUserAbortError,
  AuthenticationError,
  BadRequestError,
  type ClientOptions,
  InternalServerError,
  NotFoundError,
  PermissionDeniedError,
} from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Provider } from '../../origin/dev/provider.ts';
import { collect, courseOf, MESSAGE_COURSE } from '../origin/dev/provider/reading.ts';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { anthropicClient, WITH_COOKIE } from '../support/sdk.ts';
import {
  endedRecords,
  errorOf,
  expectServed,
  reached,
  recordingFetch,
  resetProviders,
  type Sent,
} from '../support/served.ts';

const asked = {
  model: 'support-chat',
  max_tokens: 64,
  system: 'Antworte kurz – bitte.',
  messages: [{ role: 'user' as const, content: 'What is the weather? MARKER-PROMPT' }],
};
const withTool = {
  ...asked,
  tools: [{ name: 'weather', input_schema: { type: 'object' as const } }],
  tool_choice: { type: 'any' as const },
};
const tokens = { input: 11, output: 22 };
const ANSWER = 'Answered by fra-messages in eu-central-1 with fra-messages.support-chat-20260101.';

let gateway: TestGateway;
let upstream: Provider;
let sent: Sent;
let client: Anthropic;

const clientOf = (apiKey: string, more: ClientOptions = {}) =>
  anthropicClient(gateway, { apiKey, defaultHeaders: WITH_COOKIE, fetch: sent.fetch, ...more });

beforeAll(async () => {
  gateway = await startGateway();
  upstream = gateway.eu.provider('fra-messages');
});
beforeEach(() => {
  sent = recordingFetch();
  client = clientOf(gateway.eu.key('acme'));
  upstream.order({ usage: tokens });
});
afterEach(() => resetProviders(gateway));
afterAll(() => gateway.close());

const served = (response: Response, more: Partial<Parameters<typeof expectServed>[1]> = {}) =>
  expectServed(gateway, {
    headers: response.headers,
    sent: sent.bodies[0] ?? '',
    endpoint: 'fra-messages',
    route: '/v1/messages',
    tokens,
    ...more,
  });

describe('the Anthropic SDK is served in its zone', () => {
  it('with a message', async () => {
    const { data, response } = await client.messages.create(asked).withResponse();
    expect(data.content).toEqual([{ type: 'text', text: ANSWER }]);
    expect(data.usage).toMatchObject({ input_tokens: 11, output_tokens: 22 });
    const request = await served(response);
    expect(request.header('anthropic-version')).toMatch(/^\d{4}-\d\d-\d\d$/);
    expect(response.headers.get('x-upstream-request-id')).toBe('req_0');
    expect(response.headers.get('anthropic-ratelimit-requests-limit')).toBe('4000');
  });

  it('with a streamed message, event by event in the order of the API', async () => {
    const { data, response } = await client.messages.create({ ...asked, stream: true }).withResponse();
    expect(await courseOf(data)).toEqual(MESSAGE_COURSE);
    await served(response, { streamed: true });
  });

  it('with a message stream put together by the SDK', async () => {
    expect(await client.messages.stream(asked).finalText()).toBe(ANSWER);
    expect(reached(gateway)).toHaveLength(1);
  });

  it('with a tool call, plain', async () => {
    const { data, response } = await client.messages.create(withTool).withResponse();
    expect(data.content).toMatchObject([{ type: 'tool_use', name: 'weather', input: { city: 'Zürich' } }]);
    await served(response);
  });

  it('with a tool call, streamed', async () => {
    const message = await client.messages.stream(withTool).finalMessage();
    expect(message).toMatchObject({
      stop_reason: 'tool_use',
      content: [{ type: 'tool_use', name: 'weather', input: { city: 'Zürich' } }],
    });
    const [response] = sent.responses;
    if (response === undefined) throw new Error('no response');
    await served(response, { streamed: true });
  });

  it('with a count of tokens', async () => {
    const { max_tokens: _, ...counted } = asked;
    const { data, response } = await client.messages.countTokens(counted).withResponse();
    expect(data).toEqual({ input_tokens: 11 });
    const none = { input: null, output: null };
    await served(response, { route: '/v1/messages/count_tokens', tokens: none });
  });

  it('with beta features named in its header, which reach the endpoint', async () => {
    const { response } = await client.beta.messages
      .create({ ...asked, betas: ['context-1m-2025-08-07', 'files-api-2025-04-14'] })
      .withResponse();
    const request = await served(response);
    expect(request.header('anthropic-beta')).toBe('context-1m-2025-08-07,files-api-2025-04-14');
  });

  it('with a key sent as a bearer token', async () => {
    const bearer = clientOf('', { apiKey: null, authToken: gateway.eu.key('acme') });
    const { response } = await bearer.messages.create(asked).withResponse();
    await served(response);
  });

  it("with the list of its tenant's workloads in the form of this API, and no endpoint is asked", async () => {
    const { data, response } = await client.models.list().withResponse();
    expect(data.data.map(({ id, type }) => [id, type])).toEqual([
      ['support-chat', 'model'],
      ['embed', 'model'],
    ]);
    expect(response.headers.get('x-residency-outcome')).toBe('served');
    expect((await client.models.retrieve('support-chat')).display_name).toBe('support-chat');
    expect(reached(gateway)).toEqual([]);
  });
});

describe('a caller with the Anthropic SDK who hangs up', () => {
  it("in the middle of a stream ends the call at the endpoint, recorded as the caller's doing", async () => {
    upstream.order({ gate: 'frame', usage: tokens });
    const { data, response } = await client.messages.create({ ...asked, stream: true }).withResponse();
    const held = await upstream.waitFor(({ heldAt }) => heldAt === 'frame');
    data.controller.abort();
    expect(await held.closed).toBe('aborted');
    const records = await endedRecords(gateway.eu, response.headers.get('x-request-id') ?? '');
    expect(records.map(({ kind }) => kind)).toEqual(['pending', 'served', 'interrupted']);
    expect(records.at(-1)).toMatchObject({ actor: 'client', input_tokens: 11, streamed: true });
    expect(records.at(-1)).not.toHaveProperty('code');
  });

  it('during a plain call ends the call at the endpoint', async () => {
    upstream.order({ gate: 'headers' });
    const abort = new AbortController();
    const headers = { 'x-request-id': 'plain-hang-up' };
    const call = errorOf(client.messages.create(asked, { signal: abort.signal, headers }));
    const held = await upstream.waitFor(({ heldAt }) => heldAt === 'headers');
    abort.abort();
    expect(await call).toBeInstanceOf(APIUserAbortError);
    expect(await held.closed).toBe('aborted');
    const records = await endedRecords(gateway.eu, 'plain-hang-up');
    expect(records.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['pending', undefined],
      ['interrupted', 'client'],
    ]);
  });
});

describe('the Anthropic SDK gets its own envelope and kind of error', () => {
  it.each([
    ['a key that is not valid', 'eu', AuthenticationError, 'authentication_error', 'key_invalid'],
    ['no tag', undefined, BadRequestError, 'invalid_request_error', 'jurisdiction_missing'],
    [
      "a tag that is not the tenant's",
      'us',
      PermissionDeniedError,
      'permission_error',
      'jurisdiction_mismatch',
    ],
  ])('for %s', async (_, tag, kind, type, code) => {
    const key = `rgk_acme_${'x'.repeat(43)}`;
    const defaultHeaders = tag === undefined ? {} : { 'x-jurisdiction': tag };
    const error = await errorOf(clientOf(key, { defaultHeaders }).messages.create(asked));
    expect(error).toBeInstanceOf(kind);
    if (!(error instanceof APIError)) throw new Error('not an API error');
    const requestId = error.headers?.get('x-request-id');
    expect(error.error).toMatchObject({ type: 'error', error: { type, code }, request_id: requestId });
    expect(error.error).not.toHaveProperty('error.param');
    expect(error.requestID ?? requestId).toBe(requestId);
    expect(reached(gateway)).toEqual([]);
  });

  it('for a workload that nobody knows', async () => {
    const error = await errorOf(client.messages.create({ ...asked, model: 'MARKER-MODEL' }));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ error: { error: { type: 'not_found_error', code: 'workload_unknown' } } });
    expect(String(error)).not.toContain('MARKER');
    expect(reached(gateway)).toEqual([]);
  });

  it('for a workload that the team may not call, on every route alike', async () => {
    const narrow = clientOf(gateway.eu.key('acme', 'narrow'));
    const { max_tokens: _, ...counted } = asked;
    const calls = [errorOf(narrow.messages.create(asked)), errorOf(narrow.messages.countTokens(counted))];
    for (const error of await Promise.all(calls)) {
      expect(error).toBeInstanceOf(PermissionDeniedError);
      expect(error).toMatchObject({
        error: { error: { type: 'permission_error', code: 'model_not_allowed', policy: 'eu-test@1.0.0' } },
      });
    }
    expect(reached(gateway)).toEqual([]);
  });

  it('for a zone whose endpoints are down, and never tries an endpoint of the other API or zone', async () => {
    upstream.order({ status: 529 });
    const error = await errorOf(client.messages.create(asked));
    expect(error).toBeInstanceOf(InternalServerError);
    expect(error).toMatchObject({
      status: 503,
      error: {
        type: 'error',
        error: {
          type: 'no_compliant_endpoint',
          candidates: [
            { endpoint: 'fra', rejected: 'speaks the openai API only' },
            { endpoint: 'dub', rejected: 'speaks the openai API only' },
            { endpoint: 'fra-messages', rejected: 'answered 529' },
          ],
        },
      },
    });
    expect(reached(gateway).map(({ endpoint }) => endpoint)).toEqual(['fra-messages']);
  });

  it("for what the endpoint says no to, in the endpoint's own words, which no record holds", async () => {
    upstream.order({ status: 400, echo: ['prompt'] });
    const error = await errorOf(client.messages.create(asked));
    expect(error).toBeInstanceOf(BadRequestError);
    expect(String(error)).toContain('MARKER-PROMPT');
    if (!(error instanceof APIError)) throw new Error('not an API error');
    expect(error.error).toMatchObject({ type: 'error', error: { type: 'invalid_request_error' } });
    const records = await endedRecords(gateway.eu, error.headers?.get('x-request-id') ?? '');
    expect(records.at(-1)).toMatchObject({ kind: 'failed', code: 'upstream_rejected', upstream_status: 400 });
    expect(JSON.stringify(records)).not.toContain('MARKER');
  });

  it('for a stream that breaks after its first words', async () => {
    upstream.order({ fault: { at: { contentFrames: 1 }, ending: 'cut' } });
    const { data, response } = await client.messages.create({ ...asked, stream: true }).withResponse();
    const error = await errorOf(collect(data));
    expect(error).toBeInstanceOf(APIError);
    expect(error).toMatchObject({
      error: {
        type: 'error',
        error: { code: 'upstream_interrupted' },
        request_id: response.headers.get('x-request-id'),
      },
    });
    expect(reached(gateway)).toHaveLength(1);
  });
});

it("leaves nothing on record in any zone but the tenant's own", async () => {
  expect(await gateway.us.records()).toEqual([]);
});
