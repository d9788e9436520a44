import { errorBody } from '../../../shared/errors.ts';
import { type Dialect, eventText } from './dialect.ts';
import { frameOf, isBlank } from './frame.ts';
import { verdictIn } from './verdict.ts';

/** Blocks that begin empty; any other, such as a tool call, says something by beginning. */
const EMPTY_AT_FIRST: ReadonlySet<string> = new Set(['text', 'thinking']);

/** Anthropic's Messages: typed events, ended by `message_stop`. */
export function messages(): Dialect {
  return {
    terminator: 'event: message_stop\ndata: {"type":"message_stop"}\n\n',
    endIsMarked: true,
    errorEvent: (refusal, requestId) => eventText('error', errorBody(refusal, 'anthropic', requestId)),
    read: ({ name, data }) => {
      if (isBlank(data)) return { kind: 'lifecycle' };
      const frame = frameOf(data);
      switch (frame?.type ?? name) {
        case 'error':
          return { kind: 'error', verdict: verdictIn(data, 'anthropic') };
        case 'message_start':
          return { kind: 'lifecycle', usage: frame?.message?.usage };
        case 'ping':
          return { kind: 'lifecycle' };
        case 'content_block_start':
          return { kind: EMPTY_AT_FIRST.has(frame?.content_block?.type ?? '') ? 'lifecycle' : 'content' };
        case 'message_delta': {
          const stopped = typeof frame?.delta?.stop_reason === 'string';
          return { kind: stopped ? 'finish' : 'content', usage: frame?.usage };
        }
        case 'message_stop':
          return { kind: 'terminator', bare: true };
        default:
          return { kind: 'content' };
      }
    },
  };
}
