import { EMPTY_ROOT, isHash, nodeHash } from './hash.ts';

/**
 * The right edge of a tree: the roots of its perfect subtrees, largest first, as RFC 6962 section 2.1 splits it.
 * It is all that is needed to append leaves and to give the root after each.
 */
export class Frontier {
  #size: number;
  readonly #hashes: Uint8Array[];

  private constructor(size: number, hashes: readonly Uint8Array[]) {
    this.#size = size;
    this.#hashes = [...hashes];
  }

  static empty(): Frontier {
    return new Frontier(0, []);
  }

  /** The edge of a tree of this size, or undefined where these cannot be its hashes. They may come from anyone. */
  static of(size: number, hashes: readonly Uint8Array[]): Frontier | undefined {
    if (!Number.isSafeInteger(size) || size < 0) return undefined;
    if (hashes.length !== perfectSubtrees(size) || !hashes.every(isHash)) return undefined;
    return new Frontier(size, hashes);
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  append(leafHash: Uint8Array): void {
    let hash = leafHash;
    for (let subtrees = this.#size; subtrees % 2 === 1; subtrees = (subtrees - 1) / 2) {
      const left = this.#hashes.pop();
      if (left === undefined) throw new Error('the edge of the tree lacks a subtree');
      hash = nodeHash(left, hash);
    }
    this.#hashes.push(hash);
    this.#size += 1;
  }

  /** Merkle tree hash of all leaves, RFC 6962 section 2.1. */
  root(): Uint8Array {
    return joined(this.#hashes) ?? EMPTY_ROOT;
  }

  hashes(): readonly Uint8Array[] {
    return [...this.#hashes];
  }
}

/** Root over neighbouring perfect subtrees, largest first; undefined where there is none. */
export const joined = (hashes: readonly Uint8Array[]): Uint8Array | undefined =>
  hashes.reduceRight<Uint8Array | undefined>(
    (right, left) => (right === undefined ? left : nodeHash(left, right)),
    undefined,
  );

/** The number of perfect subtrees of a tree: one for each bit of its size that is set. */
const perfectSubtrees = (size: number): number => size.toString(2).replaceAll('0', '').length;

/** Root over neighbouring hashes of one level of the tree. */
export function rootOver(hashes: readonly Uint8Array[]): Uint8Array {
  const edge = Frontier.empty();
  for (const hash of hashes) edge.append(hash);
  return edge.root();
}
