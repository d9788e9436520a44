import { err, ok, type Result } from '../../shared/result.ts';
import { bounded, type Circuit, DRILLS_MAX, type Drill, type Standing } from './circuit.ts';
import { healthOf } from './circuit-words.ts';
import type { EndpointHealth } from './snapshot.ts';
import type { Standings } from './standings.ts';

/** A person's order, and why they gave it: for operators' eyes. */
export interface Order {
  readonly by: string;
  readonly why: string;
  /** When it ends by itself, in ms since the epoch. */
  readonly until?: number;
}

export interface EndpointState extends Standing {
  readonly health: EndpointHealth;
}

/** What operators see of the circuits, and what they can order. Their record of it is the caller's to write. */
export class Orders {
  readonly #standings: Standings;

  constructor(standings: Standings) {
    this.#standings = standings;
  }

  /** Forces a circuit open or closed. A quarantine is no matter of health and has to be released first. */
  force(endpoint: string, to: 'forced_open' | 'forced_closed', order: Order): Result<Circuit, 'quarantined'> {
    const circuit = this.#standings.apply(endpoint, { kind: 'force', to, ...order });
    return circuit.kind === 'quarantined' ? err('quarantined') : ok(circuit);
  }

  /**
   * Ends what `force` or a quarantine did. What was kept out is let in again by one probe. Evidence that came
   * after the state that the person looked at stands.
   */
  release(endpoint: string, { generation }: Circuit): Result<Circuit, 'quarantined'> {
    const circuit = this.#standings.apply(endpoint, { kind: 'release', generation });
    return circuit.kind === 'quarantined' ? err('quarantined') : ok(circuit);
  }

  /** Opens a circuit for one tenant alone, until a time. A second drill of a tenant replaces the first. */
  drill(endpoint: string, drill: Omit<Drill, 'since'>): Result<Drill, 'too_many'> {
    const standing = this.#standings.of(endpoint);
    const now = this.#standings.clock.now();
    const others = standing.drills.filter(({ tenant, until }) => tenant !== drill.tenant && now < until);
    if (others.length >= DRILLS_MAX) return err('too_many');
    const held = { ...drill, since: now, by: bounded(drill.by), why: bounded(drill.why) };
    this.#standings.replace(endpoint, { ...standing, drills: [...others, held] });
    return ok(held);
  }

  /** Ends the drill of a tenant before its time. */
  endDrill(endpoint: string, tenant: string): void {
    const standing = this.#standings.of(endpoint);
    const drills = standing.drills.filter((drill) => drill.tenant !== tenant);
    if (drills.length < standing.drills.length) this.#standings.replace(endpoint, { ...standing, drills });
  }

  /** State, reason, since when and when next. */
  of(endpoint: string): EndpointState {
    this.#standings.now();
    const standing = this.#standings.of(endpoint);
    const settings = this.#standings.settingsOf(endpoint);
    return { ...standing, health: healthOf(standing, undefined, settings, this.#standings.clock.now()) };
  }

  /** The state of each of the endpoints asked for, in their order. */
  list(endpoints: Iterable<string>): ReadonlyMap<string, EndpointState> {
    return new Map(Array.from(endpoints, (endpoint) => [endpoint, this.of(endpoint)]));
  }
}
