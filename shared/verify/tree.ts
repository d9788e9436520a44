import { Frontier } from '../merkle/frontier.ts';
import { sameBytes } from '../merkle/hash.ts';
import { type Heads, named, type SignedHead } from './heads.ts';
import { type ClaimedProofs, LeafList } from './proofs.ts';
import type { Faults } from './report.ts';

/** The leaves of a window of the log, of which the first `count` make the roots that the log signed. */
export interface ProvenLeaves {
  /** Place of the first of them in the log. */
  readonly first: number;
  readonly leaves: LeafList;
  readonly count: number;
  /** Leaves that the window has by its heads. */
  readonly wanted: number;
}

/**
 * Rebuilds the tree from the edge that it had at the begin of the window and the leaves that came then; the root
 * must be the signed one at the size of each head. `leaves` come from `proofs.jsonl`, so that a record that was
 * changed can be told from its neighbours; where those do not hold, the leaves of the records themselves are tried.
 */
export function provenLeaves(
  start: number,
  heads: Heads,
  proofs: ClaimedProofs,
  ofRecords: LeafList,
  faults: Faults,
): ProvenLeaves {
  const wanted = Math.max(0, (heads.at(-1)?.size ?? 0) - start);
  if (!baseHolds(start, heads, proofs, faults)) return { first: start, leaves: ofRecords, count: 0, wanted };
  const marks = heads.filter(({ size }) => size >= start);
  const tried = (leaves: LeafList): ProvenLeaves => {
    const count = matching(baseOf(start, proofs), leaves, marks);
    return { first: start, leaves, count, wanted };
  };
  const claimed = tried(proofs.leavesFirst === start ? proofs.leaves : new LeafList());
  if (claimed.count === wanted) return claimed;
  const own = tried(ofRecords);
  if (proofs.leaves.length > 0 && own.count > claimed.count) {
    faults.add('forged', 'the leaf hashes among the proofs do not make the signed roots');
  }
  const better = own.count < claimed.count ? claimed : own;
  if (better.count < wanted) {
    const reached = start + Math.max(proofs.leaves.length, ofRecords.length);
    faults.add(...unproven(start + better.count, reached, marks));
  }
  return better;
}

/** Whether the edge of the tree at the begin of the window is the one whose root was signed. */
function baseHolds(start: number, heads: Heads, proofs: ClaimedProofs, faults: Faults): boolean {
  if (start === 0) return true;
  const edge = baseOf(start, proofs);
  if (edge.size !== start) {
    faults.add('missing', `the edge of the tree at ${start} records, without which no root can be rebuilt`);
    return false;
  }
  const head = heads.find(({ size }) => size === start);
  if (head !== undefined && sameBytes(edge.root(), head.root)) return true;
  faults.add('forged', `the edge of the tree at ${start} records does not make the root that was signed`);
  return false;
}

const baseOf = (start: number, { range }: ClaimedProofs): Frontier =>
  (start === 0 || range?.size !== start ? undefined : Frontier.of(start, range.hashes)) ?? Frontier.empty();

/** Whether the window's leaves up to a head's size make its root. */
export const makes = ({ first, leaves }: ProvenLeaves, head: SignedHead, proofs: ClaimedProofs): boolean =>
  matching(baseOf(first, proofs), leaves, [head]) === head.size - first;

/** How many of the leaves, from the first on, make the roots of the heads that they reach. */
function matching(edge: Frontier, leaves: LeafList, marks: Heads): number {
  let taken = 0;
  let proven = 0;
  for (const { size, root } of marks) {
    if (size - edge.size > leaves.length - taken) return proven;
    while (edge.size < size) {
      edge.append(leaves.at(taken));
      taken += 1;
    }
    if (!sameBytes(edge.root(), root)) return proven;
    proven = taken;
  }
  return proven;
}

function unproven(
  from: number,
  until: number,
  marks: Heads,
): ['forged' | 'missing', string, { place: number }] {
  const broken: SignedHead | undefined = marks.find(({ size }) => size > from) ?? marks.at(-1);
  const head = broken === undefined ? 'any checkpoint' : named(broken);
  return broken !== undefined && broken.size > until
    ? ['missing', `there are no records or leaf hashes for all of ${head}`, { place: until }]
    : ['forged', `neither records nor leaf hashes from place ${from} on make ${head}`, { place: from }];
}
