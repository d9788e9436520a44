import type { Verdict } from './dialects/verdict.ts';
import type { Usage } from './usage.ts';

/** A piece of an answer on its way to the caller, and whether it is the last. */
export interface Piece {
  readonly bytes: Buffer;
  readonly end?: Ending;
}

/**
 * `told`: the bytes of an interrupted stream already hold the API's error event. `verdict`: that event blames the
 * request.
 */
export type Ending =
  | { readonly kind: 'completed' }
  | { readonly kind: 'interrupted'; readonly told: boolean; readonly verdict?: Verdict };

/** Why an answer came to nothing before its first content, in words for the person on call. */
export interface NoContent {
  readonly why: string;
  /** The endpoint's verdict on the request, which is an answer of its own. */
  readonly verdict?: Verdict;
}

/** An answer whose first content has not been let through yet. */
export interface AnswerBody {
  /**
   * Waits for the first content and gives everything up to it; nothing has reached the caller before. Whoever
   * holds the attempt bounds the wait.
   */
  open(): Promise<Piece | NoContent>;
  /** The next piece; not to be asked for after one with an end. */
  next(): Promise<Piece>;
  /** Token counts seen so far. */
  readonly usage: Usage;
  /** What the body has said so far of where it was made, as it wrote it. Only ever grows. */
  readonly regions: readonly string[];
  /** Lets go of the upstream call: ends it where it is not over. */
  close(): void;
}

export const NOTHING = Buffer.alloc(0);

/** What a stream came to that ended before any content. */
export function noContent(end: Ending): NoContent {
  if (end.kind !== 'interrupted' || !end.told) return { why: 'its event stream ended before any content' };
  const why = 'its event stream began with an error event';
  return { why, ...(end.verdict && { verdict: end.verdict }) };
}
