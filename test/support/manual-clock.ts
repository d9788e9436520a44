import type { Clock } from '../../origin/clock.ts';

interface Timer {
  readonly due: number;
  readonly fn: () => void;
}

/** A clock that moves only when it is told to. */
export class ManualClock implements Clock {
  #wall: number;
  #elapsed = 0;
  readonly #timers = new Set<Timer>();

  constructor(start = Date.UTC(2026, 0, 1)) {
    this.#wall = start;
  }

  now(): number {
    return this.#wall;
  }

  monotonic(): number {
    return this.#elapsed;
  }

  setTimeout(fn: () => void, ms: number): () => void {
    const timer = { due: this.#elapsed + Math.max(0, ms), fn };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are set. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Lets `ms` milliseconds pass and fires what falls due, in the order of its time. */
  advance(ms: number): void {
    const end = this.#elapsed + ms;
    for (let next = this.#nextDue(end); next !== undefined; next = this.#nextDue(end)) {
      this.#timers.delete(next);
      this.#moveTo(next.due);
      next.fn();
    }
    this.#moveTo(end);
  }

  /** Steps the wall clock, also backwards, as a correction does. No timer notices. */
  stepWall(ms: number): void {
    this.#wall += ms;
  }

  #moveTo(elapsed: number): void {
    this.#wall += elapsed - this.#elapsed;
    this.#elapsed = elapsed;
  }

  #nextDue(end: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.due <= end && (first === undefined || timer.due < first.due)) first = timer;
    }
    return first;
  }
}

/** Lets everything that is ready to run do so; timers of a manual clock are not among it. */
export const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
