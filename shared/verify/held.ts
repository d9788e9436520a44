import { sameBytes } from '../merkle/hash.ts';
import type { CheckpointKeys } from '../open-checkpoint.ts';
import { continues, type Heads, named, openHead, type SignedHead } from './heads.ts';
import type { ClaimedProofs } from './proofs.ts';
import type { Faults } from './report.ts';
import { makes, type ProvenLeaves } from './tree.ts';

/** The checkpoint that the auditor holds, where it is one of this log. */
export const heldHead = (
  note: string | undefined,
  keys: CheckpointKeys,
  faults: Faults,
): SignedHead | undefined =>
  note === undefined ? undefined : openHead(note, keys, 'the checkpoint that you hold', faults);

/** Whether the log of a bundle is shown to be the one whose checkpoint the auditor holds. */
export function checkHeld(
  held: SignedHead,
  heads: Heads,
  proofs: ClaimedProofs,
  window: ProvenLeaves | undefined,
  faults: Faults,
): void {
  const last = heads.at(-1);
  if (last === undefined) return;
  if (held.size > last.size) {
    faults.add('missing', `what the log had when you got ${named(held)}: this ends with ${named(last)}`);
    return;
  }
  const same = heads.filter(({ size }) => size === held.size);
  const inside = window !== undefined && held.size > window.first && held.size <= window.first + window.count;
  if (same.some(({ root }) => !sameBytes(root, held.root)) || (inside && !makes(window, held, proofs))) {
    faults.add('split_view', `the log has another tree of ${held.size} records than the one that you hold`);
  } else if (same.length === 0 && !inside && !heads.some((head) => continues(held, head, proofs))) {
    faults.add('missing', `a proof that the log continues ${named(held)}: ask for a window from before it`);
  }
}
