import type { Match, Order, OrderOptions } from './order.ts';

/** Orders that can wait at once. A test that gives more has a fault. */
export const MAX_ORDERS = 1_000;

/** What is known of a request when an order is chosen; the model only once the body has been read. */
export interface Addressed {
  readonly path: string;
  readonly model: string | undefined;
}

interface Entry {
  readonly order: Order;
  readonly match: Match;
  left: number;
}

/**
 * The orders in force. Those for a number of times are used up first, in the order they were given; after
 * them the latest standing order that matches applies until another takes its place.
 */
export class OrderBook {
  #counted: Entry[] = [];
  #standing: Entry[] = [];

  /** Throws a RangeError when the book is full. */
  add(order: Order, options: OrderOptions): void {
    const match = options.match ?? {};
    if (this.#counted.length + this.#standing.length >= MAX_ORDERS) {
      throw new RangeError(`more than ${MAX_ORDERS} orders wait; reset the provider between tests`);
    }
    if (options.times !== undefined) {
      this.#counted.push({ order, match, left: options.times });
      return;
    }
    this.#standing = this.#standing.filter(
      (entry) => entry.match.path !== match.path || entry.match.model !== match.model,
    );
    this.#standing.unshift({ order, match, left: Number.POSITIVE_INFINITY });
  }

  /** The order that a request gets, without using it up. */
  peek(request: Addressed): Order {
    return this.#find(request)?.order ?? {};
  }

  /** The order that a request gets; one of its times is used up. */
  take(request: Addressed): Order {
    const entry = this.#find(request);
    if (entry === undefined) return {};
    entry.left -= 1;
    if (entry.left === 0) this.#counted = this.#counted.filter((other) => other !== entry);
    return entry.order;
  }

  clear(): void {
    this.#counted = [];
    this.#standing = [];
  }

  #find({ path, model }: Addressed): Entry | undefined {
    return [...this.#counted, ...this.#standing].find(
      ({ match }) =>
        (match.path === undefined || path.endsWith(match.path)) &&
        (match.model === undefined || match.model === model),
    );
  }
}
