import type { Evidence } from './circuit-rule.ts';
import type { Circuits } from './circuits.ts';
import type { Standings } from './standings.ts';

/** Evidence on record that an endpoint ran outside a policy's regions, which no release on record follows. */
export interface Unreleased {
  readonly endpoint: string;
  /** When it was recorded, in ms since the epoch. */
  readonly at: number;
  readonly evidence?: Evidence;
}

const ON_RECORD = 'evidence of a region outside the policy is on record';

/**
 * Puts those endpoints into quarantine whose kept state does not know of the evidence against them, as where the
 * log could be written in the last process and the circuits could not. A state that tells of a later release
 * wins: that is what a person wanted, though a crash can have cost the record of it. One that is merely newer
 * does not: its clock may have been set, or its writer may not have known.
 */
export function quarantineUnreleased(
  standings: Standings,
  circuits: Circuits,
  unreleased: readonly Unreleased[],
): void {
  for (const { endpoint, at, evidence } of unreleased) {
    const { circuit, released } = standings.of(endpoint);
    if (circuit.kind === 'quarantined') continue;
    if (released === undefined || released <= at) circuits.quarantine(endpoint, ON_RECORD, evidence);
  }
}
