import { bounded, type Circuit } from './circuit.ts';
import { clampCoolDown } from './cool-down.ts';
import type { CircuitSettings } from './settings.ts';

type Common = Pick<Circuit, 'generation' | 'since' | 'outSince' | 'coolUntil'>;

/** What every state has. */
export const common = ({ generation, since, outSince, coolUntil }: Circuit): Common => ({
  generation,
  since,
  ...(outSince !== undefined && { outSince }),
  ...(coolUntil !== undefined && { coolUntil }),
});

/** What every state has, for one that is entered now: its generation is a new one. */
export function entered(circuit: Circuit, now: number): Common {
  const { outSince: _, ...rest } = common(circuit);
  return { ...rest, generation: circuit.generation + 1, since: now };
}

/** The same for one that is still out, or out from now on: an outage is one, however many probes fail in it. */
function stillOut(circuit: Circuit, now: number): Common {
  const { kind, since, outSince = since } = circuit;
  const wasOut = kind !== 'closed' && kind !== 'forced_closed';
  return { ...entered(circuit, now), ...(wasOut && { outSince }) };
}

export const open = (circuit: Circuit, why: string, settings: CircuitSettings, now: number): Circuit => ({
  ...stillOut(circuit, now),
  kind: 'open',
  why: bounded(why),
  until: now + settings.halfOpenAfterMs,
});

export const halfOpen = (circuit: Circuit, now: number): Circuit => ({
  ...stillOut(circuit, now),
  kind: 'half_open',
  probe: 'free',
});

/** A half-open circuit whose slot was given back; what still comes from the probe that held it is late. */
export const free = (circuit: Extract<Circuit, { kind: 'half_open' }>): Circuit => ({
  ...common(circuit),
  generation: circuit.generation + 1,
  kind: 'half_open',
  probe: 'free',
});

/** The same state, with the endpoint left alone for a while; never for less long than it already is. */
export const cooled = (circuit: Circuit, coolDownMs: number, now: number): Circuit => ({
  ...circuit,
  coolUntil: Math.max(circuit.coolUntil ?? 0, now + clampCoolDown(coolDownMs)),
});

/**
 * A circuit that nobody's order holds any more. What was kept out is let in again by one probe; what was let
 * in stays in.
 */
export function released(circuit: Circuit, now: number): Circuit {
  switch (circuit.kind) {
    case 'forced_open':
    case 'quarantined':
      return halfOpen(circuit, now);
    case 'forced_closed':
      return { ...entered(circuit, now), kind: 'closed', failures: 0 };
    case 'closed':
    case 'open':
    case 'half_open':
      return circuit;
  }
}
