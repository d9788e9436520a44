import { openCheckpoint } from '../../shared/open-checkpoint.ts';
import type { VerifierKey } from '../../shared/verifier-key.ts';
import type { CheckpointRow } from '../store/tree-table.ts';

/** When a checkpoint counts as witnessed. */
export interface WitnessRule {
  readonly log: readonly VerifierKey[];
  readonly witnesses: readonly VerifierKey[];
  /** How many of them have to have cosigned; 0 where there are none, and then nothing is ever witnessed. */
  readonly quorum: number;
}

/** The signed note with the lines of witnesses below those of the log. */
export const cosignedNote = ({ note, cosignatures }: CheckpointRow): string =>
  note + cosignatures.map((line) => `${line}\n`).join('');

/** Whether enough distinct witnesses have cosigned. */
export function isWitnessed(checkpoint: CheckpointRow, { quorum, ...keys }: WitnessRule): boolean {
  if (quorum === 0 || checkpoint.cosignatures.length < quorum) return false;
  const opened = openCheckpoint(cosignedNote(checkpoint), keys);
  return opened.ok && opened.value.cosignatures.length >= quorum;
}
