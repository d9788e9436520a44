import { errorBody } from '../../../shared/errors.ts';
import { type Dialect, eventText } from './dialect.ts';
import { frameOf, isBlank } from './frame.ts';
import { verdictIn } from './verdict.ts';

const LIFECYCLE: ReadonlySet<string> = new Set([
  'response.created',
  'response.queued',
  'response.in_progress',
  'response.output_item.added',
  'response.content_part.added',
  'keepalive',
]);

/** The Responses API: typed, numbered events, ended by one that holds the whole response. */
export function responses(): Dialect {
  let lastNumber = -1;
  return {
    terminator: '',
    endIsMarked: true,
    errorEvent: (refusal, requestId) => {
      const body = errorBody(refusal, 'openai', requestId);
      const error = 'error' in body && typeof body.error === 'object' ? body.error : {};
      // Clients of before and after the API nested the error read it from either place.
      return eventText('error', { ...error, type: 'error', sequence_number: lastNumber + 1, error });
    },
    read: ({ name, data }) => {
      if (isBlank(data)) return { kind: 'lifecycle' };
      const frame = frameOf(data);
      lastNumber = frame?.sequence_number ?? lastNumber;
      const type = frame?.type ?? name;
      if (type === 'error' || type === 'response.failed') {
        return { kind: 'error', verdict: verdictIn(data, 'openai') };
      }
      if (type === 'response.completed' || type === 'response.incomplete') {
        return { kind: 'terminator', usage: frame?.response?.usage };
      }
      return { kind: LIFECYCLE.has(type) ? 'lifecycle' : 'content' };
    },
  };
}
