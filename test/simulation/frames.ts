import type { Api } from '../../shared/routes.ts';
import type { Chance } from './chance.ts';

/** A piece of an answer, and how long after the one before it comes, in ms. */
export interface Frame {
  readonly afterMs: number;
  readonly text: string;
  readonly kind: 'lifecycle' | 'content';
}

/** What was asked of an endpoint. */
export interface Asked {
  readonly api: Api;
  readonly stream: boolean;
  /** Stands in every word of the answer, so that a caller can tell whose words these are. */
  readonly name: string;
}

/** A whole answer. */
export const plain = ({ api, name }: Asked): string =>
  JSON.stringify(
    api === 'openai'
      ? {
          choices: [
            { index: 0, message: { role: 'assistant', content: words(name) }, finish_reason: 'stop' },
          ],
          usage: { prompt_tokens: 3, completion_tokens: 5 },
        }
      : {
          type: 'message',
          content: [{ type: 'text', text: words(name) }],
          stop_reason: 'end_turn',
          usage: { input_tokens: 3, output_tokens: 5 },
        },
  );

/** Marks what no record may hold. */
export const WORDS = 'words of';
const words = (name: string): string => `<${WORDS} ${name}>`;

/** The events of a whole answer. */
export function events(asked: Asked, chance: Chance): Frame[] {
  const { api, name } = asked;
  // Sometimes far more than a connection buffers, so that a caller who does not read holds it up.
  const size = chance.hit(0.03) ? 3_000 : 1;
  const content = Array.from({ length: chance.int(1, 8) }, () => words(name).repeat(size));
  const frame = (kind: Frame['kind'], data: object) => ({
    afterMs: chance.int(0, 250),
    text: eventText(api, data),
    kind,
  });
  if (api === 'openai') {
    const choice = (delta: object, more: object = {}) => ({ choices: [{ index: 0, delta, ...more }] });
    return [
      frame('lifecycle', choice({ role: 'assistant', content: '' })),
      ...content.map((text) => frame('content', choice({ content: text }))),
      frame('content', { ...choice({}, { finish_reason: 'stop' }) }),
      { afterMs: 0, text: TERMINATOR.openai, kind: 'content' },
    ];
  }
  return [
    frame('lifecycle', { type: 'message_start', message: { usage: { input_tokens: 3 } } }),
    frame('lifecycle', { type: 'ping' }),
    ...content.map((text) => frame('content', { type: 'content_block_delta', delta: { text } })),
    frame('content', {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 5 },
    }),
    { afterMs: 0, text: TERMINATOR.anthropic, kind: 'content' },
  ];
}

/** The API's own end of a whole stream. */
export const TERMINATOR: Readonly<Record<Api, string>> = {
  openai: 'data: [DONE]\n\n',
  anthropic: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
};

const eventText = (api: Api, data: object): string =>
  `${api === 'anthropic' && 'type' in data ? `event: ${data.type}\n` : ''}data: ${JSON.stringify(data)}\n\n`;

/** An answer's end by the API's own error event. */
export const failure = ({ api }: Asked): Frame => ({
  afterMs: 50,
  text: eventText(api, { type: 'error', error: { message: 'overloaded' } }),
  kind: 'lifecycle',
});
