/** Assertions remembered at once; at 60 s each that is about 16,000 requests a second. */
const REMEMBERED_MAX = 1_000_000;

/** Remembers for their lifetime which assertions were used. Bounded: full means refuse, never forget. */
export class UsedAssertions {
  readonly #expiry = new Map<string, number>();
  readonly #max: number;
  /** The latest expiry among what has been dropped, in ms. */
  #forgottenUntil = 0;

  constructor(max: number = REMEMBERED_MAX) {
    this.#max = max;
  }

  get size(): number {
    return this.#expiry.size;
  }

  /** Times are ms since the epoch. */
  use(jti: string, expiresAt: number, now: number): 'first' | 'reused' | 'expired' | 'memory_full' {
    this.#forget(now);
    if (this.#expiry.has(jti)) return 'reused';
    // What was dropped cannot be told from what was never used, so it must stay expired even where the clock
    // steps back, or where the token was checked just before its last moment and arrives here just after it.
    if (expiresAt <= Math.max(now, this.#forgottenUntil)) return 'expired';
    if (this.#expiry.size >= this.#max) return 'memory_full';
    this.#expiry.set(jti, expiresAt);
    return 'first';
  }

  /** Assertions arrive nearly in the order they expire, so the oldest entries are the ones to drop. */
  #forget(now: number): void {
    for (const [jti, expiresAt] of this.#expiry) {
      if (expiresAt > now) return;
      this.#expiry.delete(jti);
      this.#forgottenUntil = Math.max(this.#forgottenUntil, expiresAt);
    }
  }
}
