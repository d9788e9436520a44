import { monotonicFactory, type PRNG } from 'ulid';
import type { Clock } from '../clock.ts';

/** Greatest time that a ULID can hold, 2^48 - 1 ms, less a margin for stepping on from it. */
const TIME_MAX_MS = 2 ** 48 - 1 - 1_000_000;

/**
 * Makes record ids: ULIDs, each greater than the one before it, also when the clock stands still, steps back or
 * is out of range. Never throws.
 */
export function createRecordIds(clock: Clock, random?: PRNG): () => string {
  let next = monotonicFactory(random);
  let last = 1;
  return () => {
    const now = clock.now();
    if (now > last) last = Math.min(Math.trunc(now), TIME_MAX_MS);
    try {
      return next(last);
    } catch {
      // The random part of this millisecond is used up: go on in the next one.
      last += 1;
      next = monotonicFactory(random);
      return next(last);
    }
  };
}
