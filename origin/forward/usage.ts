import { z } from 'zod';

/** A count of another form says nothing, and takes nothing from the others. */
const count = z.number().int().nonnegative().nullish().catch(undefined);

/** The members under which the APIs report tokens: OpenAI's older and newer names, and Anthropic's. */
const usageSchema = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  input_tokens: count,
  output_tokens: count,
});

/** Tokens as the endpoint counted them; null where it gave no count. Never estimated. */
export interface Usage {
  readonly inputTokens: number | null;
  readonly outputTokens: number | null;
}

export const NO_USAGE: Usage = { inputTokens: null, outputTokens: null };

/** Takes over the counts that a `usage` object has; later ones of a stream replace earlier ones. */
export function mergeUsage(before: Usage, reported: unknown): Usage {
  const usage = usageSchema.safeParse(reported);
  if (!usage.success) return before;
  const { prompt_tokens, completion_tokens, input_tokens, output_tokens } = usage.data;
  return {
    inputTokens: input_tokens ?? prompt_tokens ?? before.inputTokens,
    outputTokens: output_tokens ?? completion_tokens ?? before.outputTokens,
  };
}
