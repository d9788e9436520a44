/**
 * The words in which the log tells of game days. Where one ends by itself no record follows: its begin says when, so
 * that its end is on record before it comes.
 */
export const BEGUN = 'game day begun: forced open for this tenant until ';
export const ENDED = 'game day ended before its time: ';

/** @param until RFC 3339, milliseconds, UTC */
export const begunWords = (until: string, why: string): string => `${BEGUN}${until}: ${why}`;

export const endedWords = (why: string): string => `${ENDED}${why}`;

/** When a game day ends and why it is held, from the words of its begin; undefined for other words. */
export function readBegun(words: string): { readonly until: string; readonly why: string } | undefined {
  if (!words.startsWith(BEGUN)) return undefined;
  const [, until, why] = /^(\S+Z): (.*)$/su.exec(words.slice(BEGUN.length)) ?? [];
  return until === undefined || why === undefined ? undefined : { until, why };
}
