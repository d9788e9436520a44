import type { Clock } from '../clock.ts';

/**
 * Does one piece of work at a time, and begins it at most once in `restMs`. Whoever asks while nothing has begun
 * shares the next turn; whoever asks during a turn gets the one after it.
 */
export class Turns<T> {
  readonly #clock: Clock;
  readonly #restMs: number;
  readonly #work: () => Promise<T>;
  #running: Promise<unknown> = Promise.resolve();
  #next: Promise<T> | undefined;
  #earliest = 0;
  #endRest: (() => void) | undefined;
  #hurried = false;

  constructor(clock: Clock, restMs: number, work: () => Promise<T>) {
    this.#clock = clock;
    this.#restMs = restMs;
    this.#work = work;
  }

  /** The outcome of a turn that begins after this call. */
  next(): Promise<T> {
    this.#next ??= this.#take();
    return this.#next;
  }

  /** Resolves once every turn that has been asked for is over, however it went. */
  async idle(): Promise<void> {
    while (this.#next !== undefined) await this.#next.catch(() => undefined);
    await this.#running;
  }

  /** From here on there is no rest between two turns. */
  hurry(): void {
    this.#hurried = true;
    this.#endRest?.();
  }

  async #take(): Promise<T> {
    await this.#running;
    await this.#rest();
    this.#next = undefined;
    this.#earliest = this.#clock.monotonic() + this.#restMs;
    const turn = this.#work();
    this.#running = turn.catch(() => undefined);
    return await turn;
  }

  async #rest(): Promise<void> {
    const left = this.#earliest - this.#clock.monotonic();
    if (left <= 0 || this.#hurried) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.setTimeout(resolve, left);
    this.#endRest = resolve;
    await promise;
    cancel();
  }
}
