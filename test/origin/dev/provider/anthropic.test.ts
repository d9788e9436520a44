import Anthropic, { APIError, AuthenticationError } from '@anthropic-ai/sdk';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../../../origin/dev/provider.ts';
import { collect, courseOf, MESSAGE_COURSE } from './reading.ts';

const request = {
  model: 'large',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'What is the weather?' }],
};
const tools = [{ name: 'weather', input_schema: { type: 'object' as const } }];

describe('the provider, called with the Anthropic SDK', () => {
  let provider: Provider;
  let client: Anthropic;

  beforeAll(async () => {
    provider = await startProvider({ name: 'iad' });
    client = new Anthropic({ baseURL: provider.url, apiKey: 'sk-ant-test', maxRetries: 0 });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  it('answers a message with who it is and what was used', async () => {
    const answer = await client.messages.create(request);
    expect(answer.content).toEqual([{ type: 'text', text: 'Answered by iad with large.' }]);
    expect(answer.stop_reason).toBe('end_turn');
    expect(answer.usage.output_tokens).toBeGreaterThan(0);
  });

  it('streams a message in the order of events of the real API', async () => {
    const stream = await client.messages.create({ ...request, stream: true });
    expect(await courseOf(stream)).toEqual(MESSAGE_COURSE);
    const whole = await client.messages.stream(request).finalText();
    expect(whole).toBe('Answered by iad with large.');
  });

  it('calls the tool that tool_choice demands, plain and streamed', async () => {
    const demanding = { ...request, tools, tool_choice: { type: 'any' as const } };
    const plain = await client.messages.create(demanding);
    const streamed = await client.messages.stream(demanding).finalMessage();
    for (const answer of [plain, streamed]) {
      expect(answer.stop_reason).toBe('tool_use');
      expect(answer.content).toMatchObject([
        { type: 'tool_use', name: 'weather', input: { city: 'Zürich' } },
      ]);
    }
  });

  it('reports ordered token counts and the ordered inference_geo, and counts tokens', async () => {
    provider.order({ usage: { input: 11, output: 22 }, inferenceGeo: 'us' });
    const answer = await client.messages.create(request);
    expect(answer.usage).toMatchObject({ input_tokens: 11, output_tokens: 22, inference_geo: 'us' });
    const { max_tokens: _, ...counted } = request;
    expect(await client.messages.countTokens(counted)).toEqual({ input_tokens: 11 });
  });

  it('lists its models in the form of this API', async () => {
    expect((await client.models.list()).data.map(({ type }) => type)).toEqual(['model', 'model']);
  });

  it('refuses with the envelope of this API', async () => {
    provider.order({ status: 401 });
    const error = await client.messages.create(request).catch((caught) => caught);
    expect(error).toBeInstanceOf(AuthenticationError);
    expect(error.error).toMatchObject({ type: 'error', error: { type: 'authentication_error' } });
  });

  it('opens a stream and gives an overload as its first event', async () => {
    provider.order({ fault: { at: 'before_body', errorEvent: true, ending: 'end' } });
    const stream = await client.messages.create({ ...request, stream: true });
    const error = await collect(stream).catch((caught) => caught);
    expect(error).toBeInstanceOf(APIError);
    expect(error.error).toMatchObject({ error: { type: 'overloaded_error' } });
  });

  it('opens a message and gives the error only after message_start and ping', async () => {
    provider.order({ fault: { at: 'before_content', errorEvent: true, ending: 'end' } });
    const body = JSON.stringify({ ...request, stream: true });
    const answer = await fetch(`${provider.url}/v1/messages`, { method: 'POST', body });
    const events = (await answer.text()).match(/(?<=^event: ).*$/gm);
    expect(events).toEqual(['message_start', 'content_block_start', 'ping', 'error']);
  });
});
