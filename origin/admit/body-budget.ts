/** Bytes of request bodies that the process may hold at once, so that many large uploads cannot exhaust it. */
export class BodyBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/** The share of one body in the budget. */
export class Hold {
  readonly #budget: BodyBudget;
  #bytes = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  /** Makes the share this large at least; false where the budget does not have so much. */
  reserve(bytes: number): boolean {
    if (bytes <= this.#bytes) return true;
    if (!this.#budget.take(bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Makes the share this small at most. */
  shrink(bytes: number): void {
    if (bytes >= this.#bytes) return;
    this.#budget.give(this.#bytes - bytes);
    this.#bytes = bytes;
  }

  /** Gives all of it back; may be called more than once. */
  release(): void {
    this.shrink(0);
  }
}
