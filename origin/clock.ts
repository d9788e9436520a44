/**
 * The one source of time of an origin, passed in from outside so that tests and simulations drive it.
 * `now` may step back, as wall clocks do; timers MUST NOT be affected by such a step.
 */
export interface Clock {
  /** Milliseconds since the Unix epoch. */
  now(): number;
  /** Milliseconds since some moment, for spans of time. MUST never step, whatever becomes of the wall clock. */
  monotonic(): number;
  /** Calls `fn` once after `ms` milliseconds; the function that it returns cancels that. */
  setTimeout(fn: () => void, ms: number): () => void;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimeout: (fn, ms) => {
    const timer = setTimeout(fn, ms);
    return () => clearTimeout(timer);
  },
};

/** The time of a record: RFC 3339 in UTC with milliseconds. */
export const timestamp = (clock: Clock): string => new Date(clock.now()).toISOString();
