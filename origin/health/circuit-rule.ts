import { bounded, type Circuit } from './circuit.ts';
import { common, cooled, entered, free, open, released } from './circuit-states.ts';
import { passTime } from './circuit-time.ts';
import type { Outcome } from './outcome.ts';
import type { CircuitSettings } from './settings.ts';

/** What can happen to a circuit. */
export type CircuitEvent =
  /** Only time passes. */
  | { readonly kind: 'time' }
  /** An attempt that was begun under this generation has ended. */
  | { readonly kind: 'ended'; readonly generation: number; readonly outcome: Outcome }
  /** The one probe of a half-open circuit sets out. */
  | { readonly kind: 'probe_taken' }
  | {
      readonly kind: 'force';
      readonly to: 'forced_open' | 'forced_closed';
      readonly by: string;
      readonly why: string;
      readonly until?: number;
    }
  | { readonly kind: 'quarantine'; readonly why: string; readonly evidence?: Evidence }
  /** A person takes back what a person or evidence has ordered; `generation` is of the state they looked at. */
  | { readonly kind: 'release'; readonly generation: number };

export type Evidence = NonNullable<Extract<Circuit, { kind: 'quarantined' }>['evidence']>;

type HalfOpen = Extract<Circuit, { kind: 'half_open' }>;

/**
 * What a circuit becomes. Gives the same object where nothing changes. Only a person ends a quarantine, and
 * evidence of a wrong place counts whatever generation it comes from: it is about the place and not the health.
 * Each piece of evidence begins a generation, so that a release of what was known before does not lift it.
 */
export function step(circuit: Circuit, event: CircuitEvent, settings: CircuitSettings, now: number): Circuit {
  const current = passTime(circuit, settings, now);
  switch (event.kind) {
    case 'time':
      return current;
    case 'ended':
      return event.generation === current.generation ? ended(current, event.outcome, settings, now) : current;
    case 'probe_taken':
      return current.kind === 'half_open' && current.probe === 'free'
        ? { ...common(current), kind: 'half_open', probe: 'taken', takenAt: now }
        : current;
    case 'force': {
      if (current.kind === 'quarantined') return current;
      const { to: kind, by, why, until } = event;
      const order = { by: bounded(by), why: bounded(why), ...(until !== undefined && { until }) };
      return { ...entered(current, now), kind, ...order };
    }
    case 'quarantine': {
      const { why, evidence } = event;
      return {
        ...entered(current, current.kind === 'quarantined' ? current.since : now),
        kind: 'quarantined',
        why: bounded(why),
        ...(evidence && { evidence }),
      };
    }
    case 'release':
      // Nobody has looked yet at evidence that came after what they looked at.
      return current.kind === 'quarantined' && current.generation !== event.generation
        ? current
        : released(current, now);
  }
}

function ended(circuit: Circuit, outcome: Outcome, settings: CircuitSettings, now: number): Circuit {
  switch (circuit.kind) {
    case 'closed':
      return endedClosed(circuit, outcome, settings, now);
    case 'half_open':
      return circuit.probe === 'taken' ? endedProbe(circuit, outcome, settings, now) : circuit;
    case 'open':
    case 'forced_open':
    case 'forced_closed':
    case 'quarantined':
      return circuit;
  }
}

function endedClosed(
  circuit: Extract<Circuit, { kind: 'closed' }>,
  outcome: Outcome,
  settings: CircuitSettings,
  now: number,
): Circuit {
  switch (outcome.kind) {
    case 'neutral':
      return circuit;
    case 'success':
      return circuit.failures === 0 ? circuit : { ...circuit, failures: 0 };
    case 'busy':
      return cooled(circuit, outcome.coolDownMs, now);
    case 'slow':
      return open(circuit, slowly(outcome), settings, now);
    case 'failure':
    case 'credential': {
      const failures = circuit.failures + 1;
      if (failures < settings.openAfter) return { ...circuit, failures };
      const count = failures === 1 ? 'a failure' : `${failures} failures in a row`;
      return open(circuit, `circuit open after ${count}: ${outcome.why}`, settings, now);
    }
  }
}

/** However a probe ends, its slot is given back. */
function endedProbe(circuit: HalfOpen, outcome: Outcome, settings: CircuitSettings, now: number): Circuit {
  switch (outcome.kind) {
    case 'neutral':
      return free(circuit);
    case 'success':
      return { ...entered(circuit, now), kind: 'closed', failures: 0 };
    case 'busy':
      return cooled(free(circuit), outcome.coolDownMs, now);
    case 'slow':
      return open(circuit, slowly(outcome), settings, now);
    case 'failure':
    case 'credential':
      return open(circuit, `circuit open again: ${outcome.why}`, settings, now);
  }
}

const slowly = ({ ttftMs, maxTtftMs }: Extract<Outcome, { kind: 'slow' }>): string =>
  `circuit open: first token after ${Math.round(ttftMs)} ms, above max_ttft_ms (${maxTtftMs} ms)`;
