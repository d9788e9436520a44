import type { Circuit } from '../health/circuit.ts';

/** What an endpoint's health lets through: calls, one call or probe at a time, nothing for a while, or nothing. */
export const HEALTH_WORDS = ['ok', 'trial', 'busy', 'out'] as const;

/** `usable` is whether a call would be let through at this moment. */
export function healthWord({ kind }: Circuit, usable: boolean): (typeof HEALTH_WORDS)[number] {
  switch (kind) {
    case 'forced_closed':
      return 'ok';
    case 'closed':
      return usable ? 'ok' : 'busy';
    case 'half_open':
      return 'trial';
    case 'open':
    case 'forced_open':
    case 'quarantined':
      return 'out';
  }
}

/** Why a circuit is in its state; for operators, and so with their own words, which callers are not shown. */
export function reasonOf(circuit: Circuit): string | null {
  switch (circuit.kind) {
    case 'open':
    case 'forced_open':
    case 'forced_closed':
    case 'quarantined':
      return circuit.why;
    case 'half_open':
      if (circuit.probe === 'taken') return 'one call or probe tries it now, the others go past it';
      return circuit.coolUntil === undefined
        ? 'the next call or probe tries it, the others go past it'
        : BUSY;
    case 'closed':
      if (circuit.coolUntil !== undefined) return BUSY;
      return circuit.failures === 0 ? null : `failures in a row: ${circuit.failures}`;
  }
}

const BUSY = 'it asked to be left alone for a while (429)';

/** Since when no call but a trial's is let through, in ms since the epoch; undefined where calls are. */
export const outSince = ({ kind, since, outSince: began = since }: Circuit): number | undefined =>
  kind === 'closed' || kind === 'forced_closed' ? undefined : began;

/**
 * When an endpoint was last tried, in ms since the epoch. A circuit opens as a try fails, and knows of that one
 * over a restart.
 *
 * @param triedAt as this process has seen it
 */
export function lastTried({ kind, since }: Circuit, triedAt: number | undefined): number | undefined {
  return kind === 'open' ? Math.max(since, triedAt ?? 0) : triedAt;
}
