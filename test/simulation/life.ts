import type { Clock } from '../../origin/clock.ts';

/** Never settles: what a process that is no more does with what it was waiting for. */
export const never = <T>(): Promise<T> => new Promise(() => undefined);

/** The time from one start of the origin's process to its end. A dead process is told nothing any more. */
export class Life {
  readonly clock: Clock;
  #over = false;
  readonly #endings = new Set<() => void>();

  constructor(clock: Clock) {
    this.clock = {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      // As the timers of machines do: in whole milliseconds, and never before the time.
      setTimeout: (fn, ms) => clock.setTimeout(() => this.#over || fn(), Math.ceil(ms)),
    };
  }

  get over(): boolean {
    return this.#over;
  }

  /** Has `fn` called at the end, or at once where that was already. */
  atEnd(fn: () => void): void {
    if (this.#over) fn();
    else this.#endings.add(fn);
  }

  end(): void {
    if (this.#over) return;
    this.#over = true;
    for (const ending of this.#endings) ending();
  }
}
