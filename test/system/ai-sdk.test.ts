import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { APICallError, embed, generateText, streamText, tool } from 'ai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { startGateway, type TestGateway } from '../support/gateway.ts';
import { WITH_COOKIE } from '../support/sdk.ts';
import {
  endedRecords,
  errorOf,
  expectServed,
  reached,
  recordingFetch,
  resetProviders,
  type Sent,
} from '../support/served.ts';

const tokens = { input: 11, output: 22 };
const APIS = [
  { name: 'chat', endpoint: 'fra', route: '/v1/chat/completions' },
  { name: 'responses', endpoint: 'fra', route: '/v1/responses' },
  { name: 'messages', endpoint: 'fra-messages', route: '/v1/messages' },
] as const;
type Api = (typeof APIS)[number];

let gateway: TestGateway;
let sent: Sent;

beforeAll(async () => {
  gateway = await startGateway();
});
beforeEach(() => {
  sent = recordingFetch();
  for (const { endpoint } of APIS) gateway.eu.provider(endpoint).order({ usage: tokens });
});
afterEach(() => resetProviders(gateway));
afterAll(() => gateway.close());

const settings = () => ({
  baseURL: `${gateway.edge.url}/v1`,
  apiKey: gateway.eu.key('acme'),
  headers: WITH_COOKIE,
  fetch: sent.fetch,
});

function modelOf(api: Api, workload = 'support-chat') {
  switch (api.name) {
    case 'chat':
      return createOpenAI(settings()).chat(workload);
    case 'responses':
      return createOpenAI(settings()).responses(workload);
    case 'messages':
      return createAnthropic(settings())(workload);
  }
}

const ask = (api: Api, workload?: string) => ({
  model: modelOf(api, workload),
  prompt: 'What is the weather? MARKER-PROMPT',
  maxOutputTokens: 64,
  maxRetries: 0,
});

const tools = {
  weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city }),
};

const answerOf = ({ endpoint }: Api) =>
  `Answered by ${endpoint} in eu-central-1 with ${endpoint}.support-chat-20260101.`;

/** Checks the one call that the SDK has made. */
function served(api: Api, streamed: boolean) {
  const [response, ...others] = sent.responses;
  if (response === undefined || others.length > 0) throw new Error('the SDK made other than one call');
  const { endpoint, route } = api;
  return expectServed(gateway, {
    headers: response.headers,
    sent: sent.bodies[0] ?? '',
    endpoint,
    route,
    streamed,
    tokens,
  });
}

describe.each(APIS)('the AI SDK, speaking $name, is served in its zone', (api) => {
  it('with generateText', async () => {
    const { text, usage } = await generateText(ask(api));
    expect([text, usage.inputTokens, usage.outputTokens]).toEqual([answerOf(api), 11, 22]);
    await served(api, false);
  });

  it('with streamText', async () => {
    const stream = streamText(ask(api));
    expect(await stream.text).toBe(answerOf(api));
    expect((await stream.usage).outputTokens).toBe(22);
    await served(api, true);
  });

  it('with a tool that is called, plain', async () => {
    const { toolCalls, toolResults } = await generateText({ ...ask(api), tools, toolChoice: 'required' });
    expect(toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Zürich' } }]);
    expect(toolResults).toMatchObject([{ output: 'Zürich' }]);
    await served(api, false);
  });

  it('with a tool that is called, streamed', async () => {
    const stream = streamText({ ...ask(api), tools, toolChoice: 'required' });
    expect(await stream.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Zürich' } }]);
    await served(api, true);
  });

  it('until it hangs up, which ends the call at the endpoint', async () => {
    const upstream = gateway.eu.provider(api.endpoint);
    upstream.order({ gate: 'frame', usage: tokens });
    const abort = new AbortController();
    const headers = { 'x-request-id': `hang-up-${api.name}` };
    const asked = { ...ask(api), headers, abortSignal: abort.signal, onError: () => undefined };
    for await (const word of streamText(asked).textStream) {
      expect(word).toBe('Answered ');
      abort.abort();
    }
    expect(await upstream.received[0]?.closed).toBe('aborted');
    const records = await endedRecords(gateway.eu, headers['x-request-id']);
    expect(records.map(({ kind, actor }) => [kind, actor])).toEqual([
      ['pending', undefined],
      ['served', undefined],
      ['interrupted', 'client'],
    ]);
    expect(reached(gateway)).toHaveLength(1);
  });

  it('and is told in its own words why it is refused', async () => {
    const error = await errorOf(generateText(ask(api, 'MARKER-MODEL')));
    if (!APICallError.isInstance(error)) throw new Error('not an API error');
    expect([error.statusCode, error.isRetryable]).toEqual([404, false]);
    expect(error.message).toMatch(/workload named by "model"/);
    expect(error.responseBody).not.toContain('MARKER');
    expect(reached(gateway)).toEqual([]);
  });
});

it('the AI SDK gets its embedding from its zone', async () => {
  const model = createOpenAI(settings()).embedding('embed');
  const { embedding, usage } = await embed({ model, value: 'one', maxRetries: 0 });
  expect([embedding.length, usage.tokens]).toEqual([8, 11]);
  const [response] = sent.responses;
  await expectServed(gateway, {
    headers: response?.headers ?? new Headers(),
    sent: sent.bodies[0] ?? '',
    endpoint: 'fra',
    route: '/v1/embeddings',
    workload: 'embed',
    tokens: { input: 11, output: null },
  });
});

it("leaves nothing on record in any zone but the tenant's own", async () => {
  expect(await gateway.us.records()).toEqual([]);
});
