import type { Clock } from '../clock.ts';
import type { Circuits, Ticket } from './circuits.ts';
import type { Unusable } from './snapshot.ts';

export interface DepartureSetup {
  readonly circuits: Circuits;
  readonly clock: Clock;
  readonly ticket: Ticket;
  /** For whose call; undefined for one of the gateway itself. */
  readonly tenant?: string;
}

/**
 * The moment at which a connection takes a request: the last at which it can be held back, and the first from
 * which time is the endpoint's own and not ours.
 */
export class Departure {
  readonly #setup: DepartureSetup;
  #at: number | undefined;
  #withdrawn: Unusable | undefined;
  #onLeft: () => void = () => undefined;

  constructor(setup: DepartureSetup) {
    this.#setup = setup;
  }

  /** Whether the request may still go: its endpoint may have been taken out since leave was given. */
  allowed(): boolean {
    const { circuits, ticket, tenant } = this.#setup;
    const holds = circuits.stillHolds(ticket, tenant);
    if (!holds.ok) this.#withdrawn = holds.error;
    return holds.ok;
  }

  /** Why the request was held back; undefined where it was not. */
  get withdrawn(): Unusable | undefined {
    return this.#withdrawn;
  }

  /** To be told when a connection has taken the request. */
  left(): void {
    this.#at = this.#setup.clock.monotonic();
    this.#onLeft();
    // Who is told holds the whole request, and this lives as long as the answer.
    this.#onLeft = () => undefined;
  }

  onceLeft(fn: () => void): void {
    this.#onLeft = fn;
  }

  get hasLeft(): boolean {
    return this.#at !== undefined;
  }

  /** Milliseconds since the request left; 0 before. */
  get elapsedMs(): number {
    return this.#at === undefined ? 0 : this.#setup.clock.monotonic() - this.#at;
  }
}
