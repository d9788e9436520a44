import { errorBody } from '../../../shared/errors.ts';
import { type Dialect, eventText } from './dialect.ts';
import { type Frame, frameOf, hasError, isBlank } from './frame.ts';
import { verdictIn } from './verdict.ts';

/** Chat completions and completions: nameless events of `choices`, ended by `[DONE]`. */
export function chat(): Dialect {
  const seen = new Set<number>();
  const finished = new Set<number>();
  return {
    terminator: 'data: [DONE]\n\n',
    endIsMarked: true,
    errorEvent: (refusal, requestId) => eventText(undefined, errorBody(refusal, 'openai', requestId)),
    read: ({ name, data }) => {
      if (data?.trim() === '[DONE]') return { kind: 'terminator', bare: true };
      if (isBlank(data)) return { kind: 'lifecycle' };
      const frame = frameOf(data);
      if (name === 'error' || hasError(frame)) return { kind: 'error', verdict: verdictIn(data, 'openai') };
      if (frame === undefined) return { kind: 'content' };
      const choices = frame.choices ?? [];
      for (const choice of choices) {
        seen.add(choice.index ?? 0);
        if (isFinished(choice)) finished.add(choice.index ?? 0);
      }
      const { usage } = frame;
      if (choices.some(isFinished) && finished.size === seen.size) return { kind: 'finish', usage };
      return { kind: choices.some(saysSomething) ? 'content' : 'lifecycle', usage };
    },
  };
}

type Choice = NonNullable<Frame['choices']>[number];

const isFinished = ({ finish_reason: reason }: Choice): boolean => typeof reason === 'string';

/** A choice says something unless its delta only names the role or holds empty values. */
const saysSomething = ({ text, delta }: Choice): boolean =>
  !isEmpty(text ?? '') ||
  Object.entries(delta ?? {}).some(([name, value]) => name !== 'role' && !isEmpty(value));

const isEmpty = (value: unknown): boolean =>
  value === null || value === '' || (Array.isArray(value) && value.length === 0);
