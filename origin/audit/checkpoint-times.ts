const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;

/**
 * The time that the next checkpoint attests, in ms since the epoch: whole seconds, as its signature holds no
 * others (C2SP tlog-cosignature). It never goes back, also where the clock does: then it stands still until the
 * clock has caught up.
 */
export const attestedTime = (now: number, last: number | undefined): number =>
  Math.max(Math.floor(now / SECOND_MS) * SECOND_MS, last ?? 0);

/**
 * The full UTC hour that a checkpoint of this time closes, in ms since the epoch, where it is the first after
 * it. One that follows a long pause closes the latest hour alone: no record lies in those before.
 */
export function hourClosed(last: number | undefined, at: number): number | undefined {
  const hour = Math.floor(at / HOUR_MS) * HOUR_MS;
  return last !== undefined && last < hour ? hour : undefined;
}

/** How long until the next full hour, in ms. */
export const untilNextHour = (now: number): number => HOUR_MS - (now % HOUR_MS);

/** RFC 3339, milliseconds, UTC. */
export const rfc3339 = (ms: number): string => new Date(ms).toISOString();
