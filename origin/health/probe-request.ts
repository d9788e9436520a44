import type { Api } from '../../shared/routes.ts';

/** Output tokens that a probe asks for unless its endpoint says otherwise: some models refuse fewer. */
export const PROBE_TOKENS = 16;

/** The whole prompt of a probe. It holds nothing of anybody. */
const PROMPT = 'Reply with the word: ok';

/** How a model may be asked for a completion. */
export interface ProbeModel {
  readonly api: Api;
  /** The endpoint's own id of the model. */
  readonly model: string;
  /** Output tokens to ask for; PROBE_TOKENS without it. */
  readonly tokens?: number;
  /** The OpenAI API's member that bounds the output: its own reasoning models know the second alone. */
  readonly tokensMember: 'max_tokens' | 'max_completion_tokens';
}

export interface ProbeRequest {
  readonly route: '/v1/chat/completions' | '/v1/messages';
  /** JSON. */
  readonly body: string;
}

/** The request of a synthetic completion. Plain and not streamed: every engine knows it, and it ends with its usage. */
export function probeRequest({ api, model, tokens, tokensMember }: Required<ProbeModel>): ProbeRequest {
  const messages = [{ role: 'user', content: PROMPT }];
  switch (api) {
    case 'openai':
      return {
        route: '/v1/chat/completions',
        body: JSON.stringify({ model, messages, [tokensMember]: tokens, stream: false }),
      };
    case 'anthropic':
      return { route: '/v1/messages', body: JSON.stringify({ model, messages, max_tokens: tokens }) };
  }
}
