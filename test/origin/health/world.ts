import { Circuits, type Ticket } from '../../../origin/health/circuits.ts';
import { Departure } from '../../../origin/health/departure.ts';
import { Orders } from '../../../origin/health/orders.ts';
import type { Outcome } from '../../../origin/health/outcome.ts';
import type { CircuitSettings } from '../../../origin/health/settings.ts';
import { Standings } from '../../../origin/health/standings.ts';
import { ManualClock } from '../../support/manual-clock.ts';

export const SETTINGS: CircuitSettings = { openAfter: 3, halfOpenAfterMs: 30_000, maxTtftMs: 4_000 };

export const SUCCESS: Outcome = { kind: 'success' };
export const FAILURE: Outcome = { kind: 'failure', why: 'answered 503' };
export const NEUTRAL: Outcome = { kind: 'neutral' };
export const SLOW: Outcome = { kind: 'slow', ttftMs: 4_001, maxTtftMs: 4_000 };
export const busy = (coolDownMs: number): Outcome => ({ kind: 'busy', coolDownMs });

/** The circuits of a zone on a clock that a test moves, seen through one endpoint, `fra`. */
export class World {
  readonly clock = new ManualClock();
  readonly standings: Standings;
  readonly circuits: Circuits;
  readonly orders: Orders;

  constructor(settings: CircuitSettings = SETTINGS) {
    this.standings = new Standings({ clock: this.clock, settingsOf: () => settings });
    this.circuits = new Circuits(this.standings);
    this.orders = new Orders(this.standings);
  }

  get kind(): string {
    this.standings.now();
    return this.standings.of('fra').circuit.kind;
  }

  get health() {
    return this.circuits.snapshot().of('fra');
  }

  /** A ticket that must be given. */
  ticket(): Ticket {
    const begun = this.circuits.begin('fra');
    if (!begun.ok) throw new Error(`not let through: ${begun.error.why}`);
    return begun.value;
  }

  /** The way out of a request that has just been given leave. */
  departure(): Departure {
    return new Departure({ circuits: this.circuits, clock: this.clock, ticket: this.ticket() });
  }

  /** Attempts one after the other. */
  attempts(...outcomes: Outcome[]): void {
    for (const outcome of outcomes) this.circuits.report(this.ticket(), outcome);
  }

  /** A person who has looked at the circuit takes back what was ordered. */
  release(): void {
    this.orders.release('fra', this.orders.of('fra').circuit);
  }

  /** Opens the circuit by failures. */
  open(): void {
    this.attempts(FAILURE, FAILURE, FAILURE);
  }

  /** Opens the circuit and lets its time pass. */
  halfOpen(): void {
    this.open();
    this.clock.advance(SETTINGS.halfOpenAfterMs);
  }
}
