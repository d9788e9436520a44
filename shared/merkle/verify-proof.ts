import { EMPTY_ROOT, isHash, nodeHash, sameBytes } from './hash.ts';

/**
 * Whether `leaf` is the leaf at place `index` (0-based) of the tree of `size` leaves with this root, RFC 9162
 * section 2.1.3.2. Never throws, whatever it is given.
 *
 * A root says nothing about its size: the caller MUST take both from one signed checkpoint, or a proof would
 * also hold for other sizes.
 */
export function verifyInclusion(claim: {
  readonly index: number;
  readonly size: number;
  readonly leaf: Uint8Array;
  readonly root: Uint8Array;
  readonly proof: readonly Uint8Array[];
}): boolean {
  const { index, size, leaf, root, proof } = claim;
  if (!isPlace(index) || !isPlace(size) || index >= size) return false;
  if (!isHash(leaf) || !proof.every(isHash)) return false;
  let [place, last] = [index, size - 1];
  let hash = leaf;
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(place) || place === last) {
      hash = nodeHash(sibling, hash);
      [place, last] = withoutLevelsAlone(place, last);
    } else {
      hash = nodeHash(hash, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && sameBytes(hash, root);
}

/**
 * Whether the tree of `from` leaves is the beginning of the tree of `to` leaves, RFC 9162 section 2.1.4.2. Never
 * throws. Every tree begins with the empty one, which is shown by an empty proof and its own root alone.
 */
export function verifyConsistency(claim: {
  readonly from: number;
  readonly to: number;
  readonly fromRoot: Uint8Array;
  readonly toRoot: Uint8Array;
  readonly proof: readonly Uint8Array[];
}): boolean {
  const { from, to, fromRoot, toRoot, proof } = claim;
  if (!isPlace(from) || !isPlace(to) || from > to || !proof.every(isHash)) return false;
  if (from === 0 && !sameBytes(fromRoot, EMPTY_ROOT)) return false;
  if (from === to) return proof.length === 0 && sameBytes(fromRoot, toRoot);
  if (from === 0) return proof.length === 0 && isHash(toRoot);
  // The proof leaves the old root out where it is itself a node of the new tree.
  const [first, ...rest] = isPowerOfTwo(from) ? [fromRoot, ...proof] : proof;
  return first !== undefined && isHash(first) && growsTo(claim, first, rest);
}

/** Builds the old and the new root side by side from the node that both trees share. */
function growsTo(
  claim: { from: number; to: number; fromRoot: Uint8Array; toRoot: Uint8Array },
  shared: Uint8Array,
  proof: readonly Uint8Array[],
): boolean {
  let [place, last] = [claim.from - 1, claim.to - 1];
  while (isOdd(place)) [place, last] = [half(place), half(last)];
  let [older, newer] = [shared, shared];
  for (const sibling of proof) {
    if (last === 0) return false;
    if (isOdd(place) || place === last) {
      older = nodeHash(sibling, older);
      newer = nodeHash(sibling, newer);
      [place, last] = withoutLevelsAlone(place, last);
    } else {
      newer = nodeHash(newer, sibling);
    }
    [place, last] = [half(place), half(last)];
  }
  return last === 0 && sameBytes(older, claim.fromRoot) && sameBytes(newer, claim.toRoot);
}

/** Goes up past the levels where the last node has no sibling, which is carried up as it is. */
function withoutLevelsAlone(place: number, last: number): [number, number] {
  let [up, upLast] = [place, last];
  while (up !== 0 && !isOdd(up)) [up, upLast] = [half(up), half(upLast)];
  return [up, upLast];
}

/** Arithmetic, as the operators on bits end at 32. */
const half = (n: number): number => Math.floor(n / 2);
const isOdd = (n: number): boolean => n % 2 === 1;

const isPlace = (n: number): boolean => Number.isSafeInteger(n) && n >= 0;

function isPowerOfTwo(n: number): boolean {
  let odd = n;
  while (odd > 1 && !isOdd(odd)) odd = half(odd);
  return odd === 1;
}
