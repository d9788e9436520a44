import type { Clock } from '../clock.ts';

export interface LeashSetup {
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
  readonly clock: Clock;
  /** Time until the request is on its way, in ms. */
  readonly withinMs: number;
}

/** What ends an upstream call from our side: its caller is gone, its time is up, or we have what we want. */
export class Leash {
  readonly #aborter = new AbortController();
  readonly #gone: AbortSignal;
  readonly #clock: Clock;
  #cancel: () => void;
  #late = false;
  readonly abort = (): void => this.#aborter.abort();

  constructor({ gone, clock, withinMs }: LeashSetup) {
    this.#gone = gone;
    this.#clock = clock;
    gone.addEventListener('abort', this.abort, { once: true });
    this.#cancel = this.#bound(withinMs);
  }

  /** Bounds the wait anew, in ms from now on, unless it is over. */
  renew(withinMs: number): void {
    if (this.#aborter.signal.aborted) return;
    this.#cancel();
    this.#cancel = this.#bound(withinMs);
  }

  #bound(withinMs: number): () => void {
    return this.#clock.setTimeout(() => {
      this.#late = true;
      this.abort();
    }, withinMs);
  }

  get signal(): AbortSignal {
    return this.#aborter.signal;
  }

  /** Whether the time was up before there was content. */
  get late(): boolean {
    return this.#late;
  }

  /** Content is there: from now on only the caller's going ends the call. */
  slacken(): void {
    this.#cancel();
  }

  /** The attempt has failed; a call that tries many endpoints must not gather a listener for each. */
  drop(): void {
    this.#cancel();
    this.#gone.removeEventListener('abort', this.abort);
  }
}
