import { createHash } from 'node:crypto';
import { TILE_WIDTH, type TileHashes } from '../../../shared/merkle/tiles.ts';

const sha256 = (...parts: Uint8Array[]): Buffer => createHash('sha256').update(Buffer.concat(parts)).digest();

export const referenceLeaf = (entry: Uint8Array): Buffer => sha256(Uint8Array.of(0), entry);

/** RFC 6962 section 2.1 as it is written there, over leaf hashes. */
export function referenceRoot(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only === undefined) return sha256();
  if (leaves.length === 1) return only;
  const k = split(leaves.length);
  return sha256(Uint8Array.of(1), referenceRoot(leaves.slice(0, k)), referenceRoot(leaves.slice(k)));
}

/** PATH(m, D[n]) of section 2.1.1. */
export function referencePath(m: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length === 1) return [];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m < k
    ? [...referencePath(m, left), referenceRoot(right)]
    : [...referencePath(m - k, right), referenceRoot(left)];
}

/** SUBPROOF(m, D[n], b) of section 2.1.2; PROOF(m, D[n]) where `b` is left out. */
export function referenceProof(m: number, leaves: readonly Uint8Array[], b = true): Uint8Array[] {
  if (m === leaves.length) return b ? [] : [referenceRoot(leaves)];
  const k = split(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  return m <= k
    ? [...referenceProof(m, left, b), referenceRoot(right)]
    : [...referenceProof(m - k, right, false), referenceRoot(left)];
}

const split = (n: number): number => 2 ** (Math.ceil(Math.log2(n)) - 1);

/** Distinct leaf hashes, so many. */
export const numberedLeaves = (count: number): Buffer[] =>
  Array.from({ length: count }, (_, place) => referenceLeaf(Buffer.from(`leaf ${place}`)));

/** Every tile of a tree, C2SP tlog-tiles, and which were read. */
export function tilesOf(leaves: readonly Uint8Array[]): TileHashes & { reads: string[] } {
  const levels: (readonly Uint8Array[])[] = [leaves];
  for (let row = leaves; row.length >= TILE_WIDTH; levels.push(row)) {
    const full = Math.floor(row.length / TILE_WIDTH);
    row = Array.from({ length: full }, (_, n) =>
      referenceRoot(row.slice(n * TILE_WIDTH, (n + 1) * TILE_WIDTH)),
    );
  }
  const reads: string[] = [];
  return {
    reads,
    async read(level, first, count) {
      reads.push(`${level}/${Math.floor(first / TILE_WIDTH)}`);
      return (levels[level] ?? []).slice(first, first + count);
    },
  };
}
