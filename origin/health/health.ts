import type { Policy } from '../../shared/policy.ts';
import type { Clock } from '../clock.ts';
import { Circuits } from './circuits.ts';
import { CircuitKeeper, type CircuitShelf } from './keeper.ts';
import { Orders } from './orders.ts';
import type { ProbeCall, ProbeResult } from './probe.ts';
import { type MayServe, type ProbeTarget, probePlan } from './probe-plan.ts';
import { Prober } from './prober.ts';
import { type CircuitSettings, circuitSettings } from './settings.ts';
import { type Change, Standings } from './standings.ts';
import { quarantineUnreleased, type Unreleased } from './unreleased.ts';

export interface HealthSetup {
  readonly clock: Clock;
  readonly shelf: CircuitShelf;
  readonly call: ProbeCall;
  readonly mayServe: MayServe;
  /** What the log says against endpoints, of which the shelf may not know. */
  readonly unreleased: readonly Unreleased[];
  /** Evenly from 0 up to 1. */
  random(): number;
  readonly events: {
    changed(change: Change): void;
    probed(target: ProbeTarget, result: ProbeResult): void;
    /** The circuits could not be kept; it is tried again. */
    notKept(error: unknown): void;
  };
}

/** The health of one origin's endpoints. */
export interface Health {
  readonly circuits: Circuits;
  readonly orders: Orders;
  readonly prober: Prober;
  /**
   * Resolves once every change made so far is durable; an order or a quarantine is answered after it. Rejects as
   * the shelf does: at once, or after 3 s of trying where a quarantine is among the changes.
   */
  kept(): Promise<void>;
  /** Goes by these policies from now on. What is known of the endpoints stays. */
  follow(policies: Iterable<Policy>): void;
  close(): Promise<void>;
}

/** Takes up the circuits where the last process left them, and starts to probe. Rejects as the shelf does. */
export async function startHealth(policies: Iterable<Policy>, setup: HealthSetup): Promise<Health> {
  const { clock, shelf, call, mayServe, random, events } = setup;
  let settings: ReadonlyMap<string, CircuitSettings> = new Map();
  const standings = new Standings({ clock, settingsOf: (endpoint) => settings.get(endpoint) });
  const circuits = new Circuits(standings);
  const keeper = new CircuitKeeper({ shelf, standings, clock, failed: events.notKept });
  // Before the first call: a quarantine of the last process has to hold for it.
  await keeper.start();
  standings.watch(events.changed);
  quarantineUnreleased(standings, circuits, setup.unreleased);
  let telling: Promise<void> = Promise.resolve();
  // The quarantine is kept first: until the record of its evidence is durable, nothing else outlives a crash.
  const probed = (target: ProbeTarget, result: ProbeResult): void => {
    if (result.evidence === undefined) {
      events.probed(target, result);
      return;
    }
    const told = keeper
      .insist()
      .catch(() => undefined)
      .then(() => events.probed(target, result));
    telling = Promise.all([telling, told]).then(() => undefined);
  };
  const prober = new Prober({ call, circuits, standings, clock, random, probed });
  const follow = (current: Iterable<Policy>): void => {
    const list = [...current];
    settings = circuitSettings(list);
    prober.aim(probePlan(list, mayServe));
  };
  follow(policies);
  return {
    circuits,
    orders: new Orders(standings),
    prober,
    kept: () => keeper.insist(),
    follow,
    close: async () => {
      await prober.stop();
      await telling;
      await keeper.stop();
    },
  };
}
