import { errorBody } from '../../../shared/errors.ts';
import { type Dialect, eventText } from './dialect.ts';
import { frameOf, hasError, isBlank } from './frame.ts';
import { verdictIn } from './verdict.ts';

/** Streams of images, speech and transcriptions: typed events whose end is the end of the response. */
export function media(): Dialect {
  return {
    terminator: '',
    endIsMarked: false,
    errorEvent: (refusal, requestId) => eventText(undefined, errorBody(refusal, 'openai', requestId)),
    read: ({ name, data }) => {
      if (data?.trim() === '[DONE]') return { kind: 'terminator', bare: true };
      if (isBlank(data)) return { kind: 'lifecycle' };
      const frame = frameOf(data);
      const type = frame?.type ?? name;
      if (type === 'error' || hasError(frame)) return { kind: 'error', verdict: verdictIn(data, 'openai') };
      return { kind: 'content', usage: frame?.usage };
    },
  };
}
