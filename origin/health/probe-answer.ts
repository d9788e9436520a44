import { z } from 'zod';
import type { Api } from '../../shared/routes.ts';

/** Largest answer to a probe that is read, in bytes: far above what its few tokens need. */
export const PROBE_ANSWER_BYTES = 64 * 1024;

/** What a completion says of itself; its words are not looked at. */
export interface Completion {
  /** It produced something, or stopped for a reason: also "stopped by length" means alive. */
  readonly alive: boolean;
  /** Tokens as the endpoint counted them, null where it gave no count. */
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

const count = z.int().nonnegative().nullable().catch(null);
const noUsage = { prompt_tokens: null, completion_tokens: null, input_tokens: null, output_tokens: null };

const chatSchema = z.object({
  choices: z
    .array(z.object({ finish_reason: z.string().nullish().catch(null), message: z.unknown() }))
    .min(1),
  usage: z.object({ prompt_tokens: count, completion_tokens: count }).catch(noUsage),
});

const messageSchema = z.object({
  type: z.literal('message'),
  stop_reason: z.string().nullish().catch(null),
  content: z.array(z.unknown()),
  usage: z.object({ input_tokens: count, output_tokens: count }).catch(noUsage),
});

/** What the JSON of an answer says, or undefined where it is no completion. */
export function readCompletion(api: Api, json: unknown): Completion | undefined {
  switch (api) {
    case 'openai': {
      const chat = chatSchema.safeParse(json);
      if (!chat.success) return undefined;
      const { choices, usage } = chat.data;
      const alive = choices.some(
        ({ finish_reason, message }) => Boolean(finish_reason) || hasContent(message),
      );
      return { alive, inputTokens: usage.prompt_tokens, outputTokens: usage.completion_tokens };
    }
    case 'anthropic': {
      const message = messageSchema.safeParse(json);
      if (!message.success) return undefined;
      const { stop_reason, content, usage } = message.data;
      const alive = Boolean(stop_reason) || content.length > 0;
      return { alive, inputTokens: usage.input_tokens, outputTokens: usage.output_tokens };
    }
  }
}

const hasContent = (message: unknown): boolean =>
  z.object({ content: z.string().min(1) }).safeParse(message).success;

/** The JSON of an answer, read no further than its bound; undefined where it is longer or is none. */
export async function readJson(body: AsyncIterable<Uint8Array>): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > PROBE_ANSWER_BYTES) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString('utf8'));
  } catch {
    return undefined;
  }
}
