import { err, ok, type Result } from '../../shared/result.ts';
import { UNTRIED } from './circuit.ts';
import type { Evidence } from './circuit-rule.ts';
import { healthOf } from './circuit-words.ts';
import type { Outcome } from './outcome.ts';
import { RecentOutcomes } from './recent.ts';
import type { HealthSnapshot, Unusable } from './snapshot.ts';
import type { Standings } from './standings.ts';

/** Leave to make one attempt at an endpoint. It MUST be handed back to `report`, however the attempt ends. */
export interface Ticket {
  readonly endpoint: string;
  readonly generation: number;
  /** Whether this is the one probe of a half-open circuit. */
  readonly probe: boolean;
}

/**
 * The circuits of one origin as its calls meet them: one for each endpoint, shared by all tenants. Nothing
 * here waits: who is not let through goes to the next candidate.
 */
export class Circuits {
  /** What attempts and probes have told of late. */
  readonly recent: RecentOutcomes;
  readonly #standings: Standings;
  /** Tickets that are out; each counts once. */
  readonly #out = new WeakSet<Ticket>();

  constructor(standings: Standings) {
    this.#standings = standings;
    this.recent = new RecentOutcomes(standings.clock);
  }

  /**
   * The health of every endpoint at this moment.
   *
   * @param tenant for whose calls; undefined for those of the gateway itself
   */
  snapshot(tenant?: string): HealthSnapshot {
    const standings = this.#standings.now();
    const now = this.#standings.clock.now();
    return {
      of: (endpoint) =>
        healthOf(standings.get(endpoint) ?? UNTRIED, tenant, this.#standings.settingsOf(endpoint), now),
    };
  }

  /**
   * Leave to call an endpoint now, or why there is none. A half-open circuit gives it to one call at a time,
   * also where many have seen it usable in their snapshots.
   */
  begin(endpoint: string, tenant?: string): Result<Ticket, Unusable> {
    const health = this.snapshot(tenant).of(endpoint);
    if (!health.usable) return err(health);
    const { generation, kind } = this.#standings.apply(endpoint, { kind: 'probe_taken' });
    const ticket: Ticket = { endpoint, generation, probe: kind === 'half_open' };
    this.#out.add(ticket);
    return ok(ticket);
  }

  /**
   * Whether the leave of a ticket still holds after a wait. It does not where the endpoint has come into another
   * state since, and that one lets nobody through.
   */
  stillHolds({ endpoint, generation }: Ticket, tenant?: string): Result<true, Unusable> {
    const health = this.snapshot(tenant).of(endpoint);
    const changed = this.#standings.of(endpoint).circuit.generation !== generation;
    return changed && !health.usable ? err(health) : ok(true);
  }

  /** What the attempt of a ticket told about its endpoint. A second report of the same ticket changes nothing. */
  report(ticket: Ticket, outcome: Outcome): void {
    if (!this.#out.delete(ticket)) return;
    const { endpoint, generation } = ticket;
    this.recent.note(endpoint, outcome);
    this.#standings.apply(endpoint, { kind: 'ended', generation, outcome });
  }

  /**
   * Takes an endpoint out for every tenant until a person releases it.
   *
   * @param why in words that callers may read
   */
  quarantine(endpoint: string, why: string, evidence?: Evidence): void {
    this.#standings.apply(endpoint, { kind: 'quarantine', why, ...(evidence && { evidence }) });
  }
}
