import { type Manifest, splitNotes } from '../bundle.ts';
import { EMPTY_ROOT, sameBytes } from '../merkle/hash.ts';
import { verifyConsistency } from '../merkle/verify-proof.ts';
import { type CheckpointKeys, openCheckpoint } from '../open-checkpoint.ts';
import type { ClaimedProofs } from './proofs.ts';
import type { Faults, Head } from './report.ts';

/** The head of the log at one size, whose signatures hold. */
export interface SignedHead {
  readonly size: number;
  readonly root: Uint8Array;
  /** When the log signed it, as it attests, in ms since the epoch. */
  readonly at: number;
  /** Names of the witnesses that cosigned, each with a key of its own. */
  readonly witnesses: readonly string[];
  /** The note as it was signed. */
  readonly note: string;
}

/** The heads of a bundle by size, smallest first. */
export type Heads = readonly SignedHead[];

/** Opens one note; a fault says `which` it was. */
export function openHead(
  note: string,
  keys: CheckpointKeys,
  which: string,
  faults: Faults,
): SignedHead | undefined {
  const opened = openCheckpoint(note, keys);
  if (!opened.ok) {
    faults.add(opened.error.fault, `${which}: ${opened.error.reason}`);
    return undefined;
  }
  const { checkpoint, at, cosignatures } = opened.value;
  const witnesses = cosignatures.map(({ name }) => name);
  return { size: checkpoint.size, root: checkpoint.root, at, witnesses, note };
}

/** Opens all notes, and checks that they follow each other as a log signs them. */
export function openHeads(text: string, keys: CheckpointKeys, faults: Faults): Heads {
  const notes = splitNotes(text);
  const heads = notes.flatMap(
    (note, index) => openHead(note, keys, `checkpoint ${index + 1} of ${notes.length}`, faults) ?? [],
  );
  if (notes.length === 0) faults.add('missing', 'there is no checkpoint, so nothing can be proven');
  for (const [before, head] of neighbours(heads)) {
    if (head.note === before.note) faults.add('duplicate', `${named(head)} stands there twice`);
    else if (head.size === before.size && !sameBytes(head.root, before.root)) {
      faults.add('split_view', `the log signed two trees of ${head.size} records with different roots`);
    } else if (head.size < before.size || head.at < before.at) {
      faults.add('moved', `${named(head)} stands after ${named(before)}`);
    }
  }
  return heads.toSorted((a, b) => a.size - b.size || a.at - b.at);
}

/** Whether each head is shown to continue the one before it. */
export function checkConsistency(heads: Heads, proofs: ClaimedProofs, faults: Faults): void {
  for (const [from, to] of neighbours(heads)) {
    if (from.size !== to.size && !continues(from, to, proofs)) {
      faults.add('inconsistent', `${named(to)} is not shown to continue ${named(from)}`);
    }
  }
}

/** Whether a proof of the bundle shows that one tree is the beginning of another. */
export function continues(from: SignedHead, to: SignedHead, proofs: ClaimedProofs): boolean {
  const proof = from.size === 0 ? [] : proofs.consistency.get(`${from.size}-${to.size}`);
  if (proof === undefined) return false;
  return verifyConsistency({
    from: from.size,
    to: to.size,
    fromRoot: from.size === 0 ? EMPTY_ROOT : from.root,
    toRoot: to.root,
    proof,
  });
}

/** Whether the heads are those that the manifest claims, and reach over the window that it claims. */
export function checkWindow(heads: Heads, manifest: Manifest, faults: Faults): void {
  const [first, last] = [heads[0], heads.at(-1)];
  if (first === undefined || last === undefined) return;
  if (manifest.first !== null && manifest.first.size !== first.size) {
    faults.add('missing', `the checkpoint of ${manifest.first.size} records, which the window follows`);
  }
  if (manifest.last.size !== last.size) {
    faults.add('missing', `the checkpoint of ${manifest.last.size} records, with which the window ends`);
  }
  // Signatures attest whole seconds.
  if (manifest.first !== null && first.at > Date.parse(manifest.from)) {
    faults.add('gap', `nothing is signed between ${manifest.from} and ${time(first)}`);
  }
  if (last.at < Math.floor(Date.parse(manifest.to) / 1000) * 1000) {
    faults.add('gap', `nothing is signed between ${time(last)} and ${manifest.to}`);
  }
}

/** Enough witnesses on the newest head speak for all before it, as each of them saw it grow. */
export function checkWitnesses(last: SignedHead | undefined, quorum: number, faults: Faults): void {
  if (last === undefined || last.witnesses.length >= quorum) return;
  const named_ = last.witnesses.length === 0 ? 'nobody' : last.witnesses.join(', ');
  faults.add('unwitnessed', `${named(last)} is cosigned by ${named_}, and you ask for ${quorum}`);
}

export const reported = ({ size, at, witnesses }: SignedHead): Head => ({
  size,
  at: new Date(at).toISOString(),
  witnesses,
});

const time = ({ at }: SignedHead): string => new Date(at).toISOString();

/** A head in words. */
export const named = (head: SignedHead): string => `the checkpoint of ${head.size} records (${time(head)})`;

const neighbours = (heads: Heads): (readonly [SignedHead, SignedHead])[] =>
  heads.slice(1).flatMap((head, index) => {
    const before = heads[index];
    return before === undefined ? [] : [[before, head] as const];
  });
