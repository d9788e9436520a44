import type { Chance } from './chance.ts';
import type { Watch } from './invariants/watch.ts';
import type { SimulatedOrigin } from './origin.ts';

/** How long an operator looks at a quarantine before they release it, in ms. */
const THINKS_MS = 10_000;

export interface Duty {
  readonly endpoint: string;
  readonly origin: SimulatedOrigin;
  readonly watch: Watch;
  readonly chance: Chance;
  /** Ms since the epoch. */
  readonly now: number;
}

/** What a person on call does with an endpoint when they look at it. */
export function order({ endpoint, origin: { health }, watch, chance, now }: Duty): void {
  const { orders } = health;
  const { circuit } = orders.of(endpoint);
  const given = { by: 'a.person', why: 'as ordered', until: now + chance.int(1_000, 30_000) };
  switch (circuit.kind) {
    case 'quarantined': {
      if (now - (watch.arrivals.quarantinedSince(endpoint) ?? now) < THINKS_MS) return;
      watch.arrivals.released(endpoint);
      orders.release(endpoint, circuit);
      break;
    }
    case 'forced_open':
    case 'forced_closed':
      orders.release(endpoint, circuit);
      break;
    default:
      orders.force(endpoint, chance.hit(0.5) ? 'forced_open' : 'forced_closed', given);
  }
  watch.ordered(endpoint);
}
