import { settled } from '../support/manual-clock.ts';

/** Turns of the event loop without a move after which nothing moves any more. */
const QUIET_TURNS = 3;

/**
 * Knows when everything that can go on without time passing has gone on. Signatures are made on other threads,
 * so they are lined up one behind the other: a seed would not give the same run where they could overtake.
 */
export class Stillness {
  #moves = 0;
  #signing = 0;
  #line: Promise<unknown> = Promise.resolve();

  /** Something happened that others may answer. */
  moved(): void {
    this.#moves += 1;
  }

  async reached(): Promise<void> {
    for (let quiet = 0; quiet < QUIET_TURNS; ) {
      const before = this.#moves;
      await settled();
      quiet = this.#moves === before && this.#signing === 0 ? quiet + 1 : 0;
    }
  }

  /** Lines up what WebCrypto signs and verifies; the function that it returns ends that. */
  lineUpSignatures(): () => void {
    const { subtle } = crypto;
    const { sign, verify } = subtle;
    subtle.sign = (...given) => this.#inLine(() => sign.apply(subtle, given));
    subtle.verify = (...given) => this.#inLine(() => verify.apply(subtle, given));
    return () => {
      subtle.sign = sign;
      subtle.verify = verify;
    };
  }

  #inLine<T>(work: () => Promise<T>): Promise<T> {
    this.#signing += 1;
    const done = this.#line.then(work).finally(() => {
      this.#signing -= 1;
      this.moved();
    });
    this.#line = done.catch(() => undefined);
    return done;
  }
}
