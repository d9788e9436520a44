/** Part of the budget that the bodies of one tenant may take: none can shut all others out. */
const SHARE = 1 / 2;

/** Bytes of request bodies that the process may hold at once, so that many large uploads cannot exhaust it. */
export class BodyBudget {
  readonly #share: number;
  readonly #held = new Map<string, number>();
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
    this.#share = bytes * SHARE;
  }

  take(tenant: string, bytes: number): boolean {
    const held = (this.#held.get(tenant) ?? 0) + bytes;
    if (bytes > this.#left || held > this.#share) return false;
    this.#left -= bytes;
    this.#held.set(tenant, held);
    return true;
  }

  give(tenant: string, bytes: number): void {
    const held = (this.#held.get(tenant) ?? 0) - bytes;
    this.#left += bytes;
    if (held > 0) this.#held.set(tenant, held);
    else this.#held.delete(tenant);
  }
}

/** The share of one body in the budget. */
export class Hold {
  readonly #budget: BodyBudget;
  readonly #tenant: string;
  #bytes = 0;

  constructor(budget: BodyBudget, tenant: string) {
    this.#budget = budget;
    this.#tenant = tenant;
  }

  /** Makes the share this large at least; false where the budget does not have so much. */
  reserve(bytes: number): boolean {
    if (bytes <= this.#bytes) return true;
    if (!this.#budget.take(this.#tenant, bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  /** Makes the share this small at most. */
  shrink(bytes: number): void {
    if (bytes >= this.#bytes) return;
    this.#budget.give(this.#tenant, this.#bytes - bytes);
    this.#bytes = bytes;
  }

  /** Gives all of it back; may be called more than once. */
  release(): void {
    this.shrink(0);
  }
}
