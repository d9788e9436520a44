import type { IncomingMessage } from 'node:http';
import { Arrival, type Received } from './received.ts';

/** Requests kept for inspection; the oldest leave first. */
export const MAX_RECEIVED = 10_000;

/** Bytes of bodies kept for inspection; the oldest requests leave first. */
export const MAX_RECEIVED_BYTES = 256 * 1024 * 1024;

/** Milliseconds after which a wait for a request gives up. */
const WAIT_MS = 10_000;

export interface WaitOptions {
  readonly timeoutMs?: number;
  /** Also considers requests whose body is still arriving. */
  readonly receiving?: boolean;
}

interface Waiter {
  readonly wants: (request: Received) => boolean;
  readonly found: (request: Received) => void;
  readonly giveUp: (why: Error) => void;
}

/** What reached the provider, and who waits for what to reach it. */
export class Reception {
  readonly #list: Arrival[] = [];
  readonly #waiters = new Set<Waiter>();
  #total = 0;
  #bytes = 0;

  get list(): readonly Received[] {
    return this.#list;
  }

  /** All requests since the start or the last reset, also those no longer kept. */
  get total(): number {
    return this.#total;
  }

  arrive(request: IncomingMessage): Arrival {
    const arrival = new Arrival(this.#total, request, (changed) => this.#tell(changed));
    this.#total += 1;
    this.#list.push(arrival);
    this.#forgetOldest();
    this.#tell(arrival);
    return arrival;
  }

  /** The first kept request that fits, as soon as there is one. Rejects when none came within the limit. */
  async waitFor(wanted: (request: Received) => boolean, options: WaitOptions = {}): Promise<Received> {
    const wants = (request: Received) =>
      (options.receiving === true || request.stage !== 'receiving') && wanted(request);
    const there = this.#list.find(wants);
    if (there !== undefined) return there;
    const { promise, resolve: found, reject: giveUp } = Promise.withResolvers<Received>();
    const waiter = { wants, found, giveUp };
    this.#waiters.add(waiter);
    const timeoutMs = options.timeoutMs ?? WAIT_MS;
    const timer = setTimeout(() => giveUp(this.#missed(timeoutMs)), timeoutMs);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      this.#waiters.delete(waiter);
    }
  }

  clear(): void {
    this.#list.length = 0;
    this.#total = 0;
    this.#bytes = 0;
  }

  close(): void {
    for (const waiter of this.#waiters) waiter.giveUp(new Error('the provider was closed'));
  }

  #tell(changed: Arrival): void {
    const kept = (this.#list[0]?.index ?? this.#total) <= changed.index;
    if (changed.stage === 'received' && kept) {
      this.#bytes += changed.body.length;
      this.#forgetOldest();
    }
    for (const waiter of this.#waiters) if (waiter.wants(changed)) waiter.found(changed);
  }

  #forgetOldest(): void {
    while (this.#list.length > MAX_RECEIVED || (this.#bytes > MAX_RECEIVED_BYTES && this.#list.length > 1)) {
      this.#bytes -= this.#list.shift()?.body.length ?? 0;
    }
  }

  #missed(timeoutMs: number): Error {
    const latest = this.#list.slice(-5).map(({ method, path, stage }) => `${method} ${path} (${stage})`);
    return new Error(
      `no such request within ${timeoutMs} ms; latest of ${this.#total}: ${latest.join(', ')}`,
    );
  }
}
