import type { Circuit, Drill } from './circuit.ts';
import { free, halfOpen, released } from './circuit-states.ts';
import { COOL_DOWN_MS } from './cool-down.ts';
import type { CircuitSettings } from './settings.ts';

/** How long a probe may hold the slot beyond the time that its first token may take, in milliseconds. */
const SLOT_MARGIN_MS = 60_000;

/** How long the one probe of a half-open circuit may hold its slot, in milliseconds. */
export const slotMs = ({ maxTtftMs }: CircuitSettings): number => maxTtftMs + SLOT_MARGIN_MS;

/**
 * What a circuit has become by time alone; the same object where that is nothing.
 *
 * Times are clamped to what they can be from now on, so that a clock that was set back does not keep a circuit
 * open, an endpoint cooling, a slot taken or an order in force for as long as it was set back.
 */
export function passTime(circuit: Circuit, settings: CircuitSettings, now: number): Circuit {
  const current = passCoolDown(circuit, now);
  switch (current.kind) {
    case 'open': {
      if (now >= current.until) return halfOpen(current, now);
      const latest = now + settings.halfOpenAfterMs;
      return current.until > latest ? { ...current, until: latest } : current;
    }
    case 'half_open':
      if (current.probe === 'free') return current;
      if (now - current.takenAt >= slotMs(settings)) return free(current);
      return current.takenAt > now ? { ...current, takenAt: now } : current;
    case 'forced_open':
    case 'forced_closed': {
      const { since, until } = current;
      if (until === undefined) return current;
      if (now >= until) return released(current, now);
      return since > now ? { ...current, since: now, until: now + (until - since) } : current;
    }
    case 'closed':
    case 'quarantined':
      return current;
  }
}

/** What is left of drills by time alone, bounded as orders are; the same list where nothing has changed. */
export function passDrills(drills: readonly Drill[], now: number): readonly Drill[] {
  if (drills.every(({ since, until }) => since <= now && now < until)) return drills;
  const left = drills.filter(({ until }) => now < until);
  return left.map((drill) =>
    drill.since <= now ? drill : { ...drill, since: now, until: now + (drill.until - drill.since) },
  );
}

function passCoolDown(circuit: Circuit, now: number): Circuit {
  const { coolUntil, ...rest } = circuit;
  if (coolUntil === undefined) return circuit;
  if (now >= coolUntil) return rest;
  const latest = now + COOL_DOWN_MS.most;
  return coolUntil > latest ? { ...circuit, coolUntil: latest } : circuit;
}
