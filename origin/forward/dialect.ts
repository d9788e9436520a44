import { z } from 'zod';
import { errorBody, type Refusal } from '../../shared/errors.ts';
import type { ModelRoute } from '../../shared/routes.ts';
import type { StreamEvent } from './event-stream.ts';

/**
 * What an event means for the relay: `lifecycle` says nothing yet, `content` is the first thing worth a
 * caller's while, `finish` is the last of the content, `terminator` the API's own end, `error` its failure.
 */
export interface Meaning {
  readonly kind: 'lifecycle' | 'content' | 'finish' | 'terminator' | 'error';
  readonly usage?: unknown;
}

/** How one API's event streams begin, end and fail. */
export interface Dialect {
  read(event: StreamEvent): Meaning;
  /** The event that ends a stream whose content is whole but whose end never came. */
  readonly terminator: string;
  /** Whether a stream without `finish` or `terminator` is broken, even where the connection ended well. */
  readonly endIsMarked: boolean;
  errorEvent(refusal: Refusal, requestId: string): string;
}

const loose = z.looseObject({});
const frameSchema = z.looseObject({
  type: z.string().nullish(),
  error: z.unknown().optional(),
  usage: z.unknown().optional(),
  message: z.looseObject({ usage: z.unknown().optional() }).nullish().catch(undefined),
  response: z.looseObject({ usage: z.unknown().optional() }).nullish().catch(undefined),
  content_block: z.looseObject({ type: z.string().nullish() }).nullish().catch(undefined),

  choices: z
    .array(
      z.looseObject({
        index: z.number().nullish(),
        finish_reason: z.unknown().optional(),
        text: z.unknown().optional(),
        delta: loose.nullish().catch(undefined),
      }),
    )
    .nullish()
    .catch(undefined),
});
type Frame = z.infer<typeof frameSchema>;

function frameOf(data: string): Frame | undefined {
  try {
    return frameSchema.safeParse(JSON.parse(data)).data;
  } catch {
    return undefined;
  }
}

const dataEvent = (name: string | undefined, body: object): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(body)}\n\n`;

/** A delta says something unless it only names the role or holds empty values. */
const saysSomething = (delta: Record<string, unknown> | null | undefined): boolean =>
  Object.entries(delta ?? {}).some(
    ([name, value]) =>
      name !== 'role' && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0),
  );

/** Chat completions and completions: nameless events of `choices`, ended by `[DONE]`. */
function chat(): Dialect {
  const seen = new Set<number>();
  const finished = new Set<number>();
  return {
    terminator: 'data: [DONE]\n\n',
    endIsMarked: true,
    errorEvent: (refusal, requestId) => dataEvent(undefined, errorBody(refusal, 'openai', requestId)),
    read: ({ name, data }) => {
      if (data.trim() === '[DONE]') return { kind: 'terminator' };
      const frame = frameOf(data);
      if (name === 'error' || (frame?.error !== undefined && frame.error !== null)) return { kind: 'error' };
      if (frame === undefined) return { kind: 'content' };
      const choices = frame.choices ?? [];
      for (const { index, finish_reason } of choices) {
        seen.add(index ?? 0);
        if (typeof finish_reason === 'string') finished.add(index ?? 0);
      }
      const usage = frame.usage;
      if (choices.some((choice) => typeof choice.finish_reason === 'string') && finished.size === seen.size) {
        return { kind: 'finish', usage };
      }
      const content = choices.some(({ text, delta }) => (text ?? '') !== '' || saysSomething(delta));
      return { kind: content ? 'content' : 'lifecycle', usage };
    },
  };
}

const RESPONSES_LIFECYCLE = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
]);

/** The Responses API: typed events, ended by `response.completed` or `response.incomplete`. */
function responses(): Dialect {
  return {
    terminator: '',
    endIsMarked: true,
    errorEvent: (refusal, requestId) => {
      const body = errorBody(refusal, 'openai', requestId);
      const error = 'error' in body && typeof body.error === 'object' ? body.error : {};
      return dataEvent('error', { ...error, type: 'error', error });
    },
    read: ({ name, data }) => {
      const frame = frameOf(data);
      const type = frame?.type ?? name;
      if (type === 'error' || type === 'response.failed') return { kind: 'error' };
      if (type === 'response.completed' || type === 'response.incomplete') {
        return { kind: 'terminator', usage: frame?.response?.usage };
      }
      return { kind: RESPONSES_LIFECYCLE.has(type) ? 'lifecycle' : 'content' };
    },
  };
}

/** Anthropic's Messages: typed events, ended by `message_stop`. */
function messages(): Dialect {
  return {
    terminator: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    endIsMarked: true,
    errorEvent: (refusal, requestId) => dataEvent('error', errorBody(refusal, 'anthropic', requestId)),
    read: ({ name, data }) => {
      const frame = frameOf(data);
      switch (frame?.type ?? name) {
        case 'error':
          return { kind: 'error' };
        case 'message_start':
          return { kind: 'lifecycle', usage: frame?.message?.usage };
        case 'ping':
          return { kind: 'lifecycle' };
        case 'content_block_start': {
          const block = frame?.content_block?.type;
          return { kind: block === 'text' || block === 'thinking' ? 'lifecycle' : 'content' };
        }
        case 'message_delta':
          return { kind: 'finish', usage: frame?.usage };
        case 'message_stop':
          return { kind: 'terminator' };
        default:
          return { kind: 'content' };
      }
    },
  };
}

/** Streams of images, speech and transcriptions: typed events whose end is the end of the response. */
function media(): Dialect {
  return {
    terminator: '',
    endIsMarked: false,
    errorEvent: (refusal, requestId) => dataEvent('error', errorBody(refusal, 'openai', requestId)),
    read: ({ name, data }) => {
      if (data.trim() === '[DONE]') return { kind: 'terminator' };
      const frame = frameOf(data);
      const type = frame?.type ?? name;
      if (type === 'error' || (frame?.error !== undefined && frame.error !== null)) return { kind: 'error' };
      return { kind: 'content', usage: frame?.usage };
    },
  };
}

/** A reader of one stream of this route; it keeps state, so each stream has its own. */
export function dialectOf(route: ModelRoute['path']): Dialect {
  switch (route) {
    case '/v1/chat/completions':
    case '/v1/completions':
      return chat();
    case '/v1/responses':
      return responses();
    case '/v1/messages':
    case '/v1/messages/count_tokens':
      return messages();
    case '/v1/embeddings':
    case '/v1/images/generations':
    case '/v1/audio/speech':
    case '/v1/audio/transcriptions':
    case '/v1/moderations':
      return media();
  }
}
