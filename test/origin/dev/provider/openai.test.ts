import OpenAI, { APIError, APIUserAbortError, RateLimitError } from 'openai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Provider, startProvider } from '../../../../origin/dev/provider.ts';
import { collect } from './reading.ts';

const messages = [{ role: 'user' as const, content: 'What is the weather?' }];
const functionTool = { name: 'weather', parameters: { type: 'object', properties: {} } };

describe('the provider, called with the OpenAI SDK', () => {
  let provider: Provider;
  let client: OpenAI;

  beforeAll(async () => {
    provider = await startProvider({ name: 'fra' });
    client = new OpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'sk-test', maxRetries: 0 });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  it('answers a chat completion with who it is, the model and what was used', async () => {
    const answer = await client.chat.completions.create({ model: 'large', messages });
    expect(answer.choices[0]?.message.content).toBe('Answered by fra with large.');
    expect(answer.choices[0]?.finish_reason).toBe('stop');
    expect(answer.usage?.total_tokens).toBeGreaterThan(0);
    expect(provider.received.map(({ path, model }) => [path, model])).toEqual([
      ['/v1/chat/completions', 'large'],
    ]);
  });

  it('streams a chat: the role first, then the words, and usage last where it was asked for', async () => {
    const stream = await client.chat.completions.create({
      model: 'large',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks = await collect(stream);
    expect(chunks[0]?.choices[0]?.delta).toMatchObject({ role: 'assistant', content: '' });
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(
      'Answered by fra with large.',
    );
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true);
  });

  it('streams no usage where it was not asked for', async () => {
    const stream = await client.chat.completions.create({ model: 'large', messages, stream: true });
    const chunks = await collect(stream);
    expect(chunks.every((chunk) => chunk.choices.length === 1 && chunk.usage === undefined)).toBe(true);
  });

  it('calls the tool that tool_choice demands, plain and streamed', async () => {
    const request = {
      model: 'large',
      messages,
      tools: [{ type: 'function' as const, function: functionTool }],
      tool_choice: 'required' as const,
    };
    const plain = await client.chat.completions.create(request);
    const streamed = await client.chat.completions.stream(request).finalChatCompletion();
    for (const answer of [plain, streamed]) {
      expect(answer.choices[0]?.finish_reason).toBe('tool_calls');
      const [call] = answer.choices[0]?.message.tool_calls ?? [];
      expect(call).toMatchObject({ function: { name: 'weather', arguments: '{"city":"Zürich"}' } });
    }
  });

  it('answers responses, plain and streamed, with text and with a tool call', async () => {
    const plain = await client.responses.create({ model: 'large', input: 'Hello' });
    expect(plain.output_text).toBe('Answered by fra with large.');
    const streamed = client.responses.stream({ model: 'large', input: 'Hello' });
    expect((await streamed.finalResponse()).output_text).toBe('Answered by fra with large.');

    provider.order({ toolCall: { arguments: '{"city":"Bern"}' } });
    const tools = [{ type: 'function' as const, strict: false, ...functionTool }];
    const called = client.responses.stream({ model: 'large', input: 'Hello', tools });
    expect((await called.finalResponse()).output).toMatchObject([
      { type: 'function_call', name: 'weather', arguments: '{"city":"Bern"}' },
    ]);
  });

  it('answers the older completions, plain and streamed', async () => {
    const plain = await client.completions.create({ model: 'old', prompt: 'Say' });
    expect(plain.choices[0]?.text).toBe('Answered by fra with old.');
    const stream = await client.completions.create({ model: 'old', prompt: 'Say', stream: true });
    const texts = (await collect(stream)).map((chunk) => chunk.choices[0]?.text);
    expect(texts.join('')).toBe('Answered by fra with old.');
  });

  it('gives each input a vector of its own, the same in base64 and in numbers', async () => {
    const input = ['one', 'two'];
    const packed = await client.embeddings.create({ model: 'embed', input });
    const plain = await client.embeddings.create({ model: 'embed', input, encoding_format: 'float' });
    expect(packed.data.map(({ embedding }) => embedding.length)).toEqual([8, 8]);
    expect(packed.data[0]?.embedding).not.toEqual(packed.data[1]?.embedding);
    expect(packed.data[0]?.embedding).toEqual(plain.data[0]?.embedding);
    const body = JSON.stringify({ model: 'embed', input, encoding_format: 'base64' });
    const sent = await fetch(`${provider.url}/v1/embeddings`, { method: 'POST', body });
    expect(await sent.json()).toMatchObject({ data: [{ embedding: expect.any(String) }, {}] });
  });

  it('takes audio as a form and hands audio out as bytes', async () => {
    const file = await OpenAI.toFile(Buffer.from('RIFF sound'), 'call.wav');
    const heard = await client.audio.transcriptions.create({ model: 'whisper', file });
    expect(heard.text).toBe('Answered by fra with whisper.');
    expect(provider.received[0]?.model).toBe('whisper');
    expect(provider.received[0]?.body.includes('RIFF sound')).toBe(true);

    const spoken = await client.audio.speech.create({ model: 'tts', voice: 'alloy', input: 'Hello' });
    expect(spoken.headers.get('content-type')).toBe('audio/mpeg');
    expect(Buffer.from(await spoken.arrayBuffer()).toString('latin1')).toContain('Answered by fra with tts.');
  });

  it('streams a transcription', async () => {
    const file = await OpenAI.toFile(Buffer.from('RIFF sound'), 'call.wav');
    const stream = await client.audio.transcriptions.create({ model: 'whisper', file, stream: true });
    const events = await collect(stream);
    expect(events.at(-1)).toMatchObject({
      type: 'transcript.text.done',
      text: 'Answered by fra with whisper.',
    });
  });

  it('streams an image and spoken audio', async () => {
    const drawn = await client.images.generate({ model: 'draw', prompt: 'A lake', stream: true });
    expect((await collect(drawn)).map(({ type }) => type)).toEqual([
      'image_generation.partial_image',
      'image_generation.completed',
    ]);
    const speech = { model: 'tts', voice: 'alloy', input: 'Hello', stream_format: 'sse' } as const;
    const spoken = await (await client.audio.speech.create(speech)).text();
    expect(spoken.match(/(?<=^event: ).*$/gm)).toEqual(['speech.audio.delta', 'speech.audio.done']);
  });

  it('reports ordered token counts, or none', async () => {
    const usage = async () => (await client.chat.completions.create({ model: 'large', messages })).usage;
    provider.order({ usage: { input: 3, output: 4 } });
    expect(await usage()).toMatchObject({ prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 });
    provider.order({ usage: null });
    expect(await usage()).toBeUndefined();
  });

  it('draws images, judges texts and lists its models', async () => {
    const images = await client.images.generate({ model: 'draw', prompt: 'A lake', n: 2 });
    expect(
      images.data?.map(({ b64_json }) =>
        Buffer.from(b64_json ?? '', 'base64')
          .subarray(1, 4)
          .toString(),
      ),
    ).toEqual(['PNG', 'PNG']);
    const verdict = await client.moderations.create({ input: ['a', 'b'] });
    expect(verdict.results.map(({ flagged }) => flagged)).toEqual([false, false]);
    expect((await client.models.list()).data.map(({ id }) => id)).toContain('example-large');
  });

  it('reports an ordered status as the error that the SDK knows for it', async () => {
    provider.order({ status: 429, headers: { 'retry-after': '7' } }, { times: 1 });
    const error = await client.chat.completions
      .create({ model: 'large', messages })
      .catch((caught) => caught);
    expect(error).toBeInstanceOf(RateLimitError);
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', type: 'requests' });
    expect(error.headers.get('retry-after')).toBe('7');
  });

  it('breaks a stream with an error event that the SDK throws', async () => {
    provider.order({ fault: { at: { contentFrames: 1 }, errorEvent: true, ending: 'end' } });
    const stream = await client.chat.completions.create({ model: 'large', messages, stream: true });
    await expect(collect(stream)).rejects.toBeInstanceOf(APIError);
  });

  it('sees a caller abort in the middle of a stream', async () => {
    provider.order({ gate: 'frame' });
    const stream = await client.chat.completions.create({ model: 'large', messages, stream: true });
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'frame');
    stream.controller.abort();
    expect(await held.closed).toBe('aborted');
  });

  it('sees a caller abort before the headers', async () => {
    provider.order({ gate: 'headers' });
    const abort = new AbortController();
    const call = client.chat.completions.create({ model: 'large', messages }, { signal: abort.signal });
    const refused = expect(call).rejects.toBeInstanceOf(APIUserAbortError);
    const held = await provider.waitFor(({ heldAt }) => heldAt === 'headers');
    abort.abort();
    await refused;
    expect(await held.closed).toBe('aborted');
  });
});
