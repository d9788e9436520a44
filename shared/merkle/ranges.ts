/** Leaves from place `from` up to but without `to`, where they make up one node of the tree. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

/** The perfect subtrees that make up a node, largest first; only nodes at the right edge have more than one. */
export function perfectParts({ from, to }: Range): readonly Range[] {
  const parts: Range[] = [];
  for (let start = from; start < to; ) {
    const end = start + largestPowerBelow(to - start + 1);
    parts.push({ from: start, to: end });
    start = end;
  }
  return parts;
}

/** The largest power of two that is smaller than `n`, where RFC 6962 section 2.1 splits `n` leaves; `n` from 2. */
export function largestPowerBelow(n: number): number {
  let power = 1;
  while (power * 2 < n) power *= 2;
  return power;
}
