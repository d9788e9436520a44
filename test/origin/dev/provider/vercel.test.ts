import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAI } from '@ai-sdk/openai';
import { embed, generateImage, generateText, streamText, tool, transcribe } from 'ai';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Provider, startProvider } from '../../../../origin/dev/provider.ts';

describe('the provider, called with the Vercel AI SDK', () => {
  let provider: Provider;
  let openai: ReturnType<typeof createOpenAI>;
  let anthropic: ReturnType<typeof createAnthropic>;

  beforeAll(async () => {
    provider = await startProvider({ name: 'syd' });
    openai = createOpenAI({ baseURL: `${provider.url}/v1`, apiKey: 'sk-test' });
    anthropic = createAnthropic({ baseURL: `${provider.url}/v1`, apiKey: 'sk-ant-test' });
  });
  afterEach(() => provider.reset());
  afterAll(() => provider.close());

  const models = () => [openai.chat('large'), openai.responses('large'), anthropic('large')];

  it('answers chat, responses and messages alike, plain and streamed', async () => {
    for (const model of models()) {
      const plain = await generateText({ model, prompt: 'Hello', maxOutputTokens: 64, maxRetries: 0 });
      expect(plain.text).toBe('Answered by syd with large.');
      expect(plain.usage.outputTokens).toBeGreaterThan(0);
      const streamed = streamText({ model, prompt: 'Hello', maxOutputTokens: 64, maxRetries: 0 });
      expect(await streamed.text).toBe('Answered by syd with large.');
    }
  });

  it('calls a tool in each of the three APIs', async () => {
    const tools = {
      weather: tool({ inputSchema: z.object({ city: z.string() }), execute: ({ city }) => city }),
    };
    for (const model of models()) {
      const asked = { model, prompt: 'Hello', maxOutputTokens: 64, maxRetries: 0 };
      const plain = await generateText({ ...asked, tools, toolChoice: 'required' });
      expect(plain.toolCalls).toMatchObject([{ toolName: 'weather', input: { city: 'Zürich' } }]);
      const streamed = streamText({ ...asked, tools, toolChoice: 'required' });
      expect(await streamed.toolCalls).toMatchObject([{ input: { city: 'Zürich' } }]);
    }
  });

  it('embeds, draws and transcribes', async () => {
    const vector = await embed({ model: openai.embedding('embed'), value: 'one', maxRetries: 0 });
    expect(vector.embedding).toHaveLength(8);
    const drawn = await generateImage({
      model: openai.image('gpt-image-1'),
      prompt: 'A lake',
      maxRetries: 0,
    });
    expect(drawn.image.mediaType).toBe('image/png');
    const audio = Buffer.from('RIFF sound');
    const heard = await transcribe({ model: openai.transcription('whisper-1'), audio, maxRetries: 0 });
    expect(heard.text).toBe('Answered by syd with whisper-1.');
  });
});
