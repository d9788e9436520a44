/** Milliseconds as the seconds of a metric. A wall clock can step back; no duration is less than nothing. */
export const seconds = (ms: number): number => Math.max(ms, 0) / 1_000;
