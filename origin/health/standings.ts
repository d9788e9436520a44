import type { Clock } from '../clock.ts';
import { type Circuit, type Standing, UNTRIED } from './circuit.ts';
import { type CircuitEvent, step } from './circuit-rule.ts';
import { free } from './circuit-states.ts';
import { passDrills } from './circuit-time.ts';
import { type CircuitSettings, UNNAMED_SETTINGS } from './settings.ts';

export interface Change {
  readonly endpoint: string;
  readonly before: Standing;
  readonly after: Standing;
}

export interface StandingsSetup {
  readonly clock: Clock;
  /** The settings of an endpoint as the policies in force have them; undefined where no graph names it. */
  settingsOf(endpoint: string): CircuitSettings | undefined;
}

/**
 * What is known of each endpoint's health. Endpoints are those of the registry and of the store, which bounds
 * what is held.
 */
export class Standings {
  readonly clock: Clock;
  readonly #setup: StandingsSetup;
  /** Replaced with each change, so that who holds it holds a picture of one moment. */
  #all: ReadonlyMap<string, Standing> = new Map();
  /** Endpoints whose state time alone can change. */
  readonly #restless = new Set<string>();
  readonly #watchers = new Set<(change: Change) => void>();

  constructor(setup: StandingsSetup) {
    this.clock = setup.clock;
    this.#setup = setup;
  }

  /** Every endpoint of which something is known, up to this moment. */
  now(): ReadonlyMap<string, Standing> {
    for (const endpoint of [...this.#restless]) this.apply(endpoint, { kind: 'time' });
    return this.#all;
  }

  of(endpoint: string): Standing {
    return this.#all.get(endpoint) ?? UNTRIED;
  }

  settingsOf(endpoint: string): CircuitSettings {
    return this.#setup.settingsOf(endpoint) ?? UNNAMED_SETTINGS;
  }

  /** What becomes of an endpoint's circuit by an event. */
  apply(endpoint: string, event: CircuitEvent): Circuit {
    const before = this.of(endpoint);
    const now = this.clock.now();
    const circuit = step(before.circuit, event, this.settingsOf(endpoint), now);
    const drills = passDrills(before.drills, now);
    const isReleased = before.circuit.kind === 'quarantined' && circuit.kind !== 'quarantined';
    if (circuit !== before.circuit || drills !== before.drills)
      this.replace(endpoint, { ...before, circuit, drills, ...(isReleased && { released: now }) });
    return circuit;
  }

  replace(endpoint: string, after: Standing): void {
    const before = this.of(endpoint);
    this.#put(endpoint, after);
    for (const watcher of this.#watchers) watcher({ endpoint, before, after });
  }

  /** Takes up what the last process left behind. Nobody is under way any more with a probe of that time. */
  restore(endpoint: string, standing: Standing): void {
    const { circuit } = standing;
    const orphaned = circuit.kind === 'half_open' && circuit.probe === 'taken';
    this.#put(endpoint, { ...standing, circuit: orphaned ? free(circuit) : circuit });
  }

  /** Calls `fn` after each change; the function that it returns ends that. */
  watch(fn: (change: Change) => void): () => void {
    this.#watchers.add(fn);
    return () => this.#watchers.delete(fn);
  }

  #put(endpoint: string, standing: Standing): void {
    this.#all = new Map(this.#all).set(endpoint, standing);
    if (isRestless(standing)) this.#restless.add(endpoint);
    else this.#restless.delete(endpoint);
  }
}

const isRestless = ({ circuit: { kind, coolUntil }, drills }: Standing): boolean =>
  coolUntil !== undefined || drills.length > 0 || (kind !== 'closed' && kind !== 'quarantined');
