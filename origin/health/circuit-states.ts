import { bounded, type Circuit } from './circuit.ts';
import { clampCoolDown } from './cool-down.ts';
import type { CircuitSettings } from './settings.ts';

type Common = Pick<Circuit, 'generation' | 'since' | 'coolUntil'>;

/** What every state has. */
export const common = ({ generation, since, coolUntil }: Circuit): Common => ({
  generation,
  since,
  ...(coolUntil !== undefined && { coolUntil }),
});

/** What every state has, for one that is entered now: its generation is a new one. */
export const entered = (circuit: Circuit, now: number): Common => ({
  ...common(circuit),
  generation: circuit.generation + 1,
  since: now,
});

export const open = (circuit: Circuit, why: string, settings: CircuitSettings, now: number): Circuit => ({
  ...entered(circuit, now),
  kind: 'open',
  why: bounded(why),
  until: now + settings.halfOpenAfterMs,
});

export const halfOpen = (circuit: Circuit, now: number): Circuit => ({
  ...entered(circuit, now),
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
