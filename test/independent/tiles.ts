import { at, type Bytes, join } from './encoding.ts';
import { Fault } from './fault.ts';
import { hashNode, rootOf, splitOf } from './tree.ts';

/** Gets one resource of a log by its path below the log's prefix; rejects where there is none. */
export type FetchPath = (path: string) => Promise<Uint8Array>;

export const TILE_WIDTH = 256;

/** C2SP tlog-tiles, "Merkle Tree": `tile/<L>/<N>[.p/<W>]`, N in groups of three digits. */
export function tilePath(level: number | 'entries', index: number, width: number): string {
  const digits = String(index);
  const groups = digits.padStart(Math.ceil(digits.length / 3) * 3, '0').match(/.{3}/g) ?? [];
  const path = groups.map((group, i) => (i < groups.length - 1 ? `x${group}` : group)).join('/');
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/** Width of a tile in a tree of `count` hashes on its level. */
export const widthOf = (count: number, index: number): number =>
  Math.min(TILE_WIDTH, count - index * TILE_WIDTH);

/** Gets a tile as it was at a size, and so from the full tile where the log has already dropped the partial one. */
export async function fetchTile(
  fetchPath: FetchPath,
  level: number | 'entries',
  index: number,
  width: number,
): Promise<{ readonly bytes: Uint8Array; readonly width: number }> {
  for (const wide of width === TILE_WIDTH ? [width] : [width, TILE_WIDTH]) {
    const bytes = await fetchPath(tilePath(level, index, wide)).catch(() => undefined);
    if (bytes !== undefined) return { bytes, width: wide };
  }
  throw new Fault('missing', tilePath(level, index, width));
}

/** The hashes of a log's tiles at the size of a checkpoint, each tile fetched once. */
export class Tiles {
  readonly #fetchPath: FetchPath;
  readonly #size: number;
  readonly #tiles = new Map<string, Promise<readonly Bytes[]>>();

  constructor(fetchPath: FetchPath, size: number) {
    this.#fetchPath = fetchPath;
    this.#size = size;
  }

  /** How many hashes there are on a level. */
  count(level: number): number {
    return Math.floor(this.#size / TILE_WIDTH ** level);
  }

  async hashes(level: number, index: number): Promise<readonly Bytes[]> {
    const key = `${level}/${index}`;
    const known = this.#tiles.get(key) ?? this.#read(level, index);
    this.#tiles.set(key, known);
    return known;
  }

  async #read(level: number, index: number): Promise<readonly Bytes[]> {
    const width = widthOf(this.count(level), index);
    const { bytes, width: fetched } = await fetchTile(this.#fetchPath, level, index, width);
    if (bytes.length !== fetched * 32)
      throw new Fault('malformed', `${tilePath(level, index, fetched)} has another length`);
    return Array.from({ length: width }, (_, i) => join(bytes.subarray(i * 32, (i + 1) * 32)));
  }

  /** MTH(D[start:end]) for a range that is a subtree of the tree. */
  async subtree(start: number, end: number): Promise<Bytes> {
    const size = end - start;
    const k = splitOf(size);
    if (size === 1 || size === k * 2) return this.#perfect(Math.log2(size), start / size);
    return hashNode(await this.subtree(start, start + k), await this.subtree(start + k, end));
  }

  async #perfect(height: number, index: number): Promise<Bytes> {
    const level = Math.floor(height / 8);
    const wide = 2 ** (height % 8);
    const first = index * wide;
    const hashes = await this.hashes(level, Math.floor(first / TILE_WIDTH));
    const offset = first % TILE_WIDTH;
    return rootOf(Array.from({ length: wide }, (_, i) => at(hashes, offset + i)));
  }
}

/** PROOF(m, D[n]) of RFC 6962 §2.1.2, from the tiles of the greater tree; 0 < m ≤ n. */
export async function consistencyProof(tiles: Tiles, m: number, n: number): Promise<readonly Bytes[]> {
  const subproof = async (start: number, older: number, size: number, whole: boolean): Promise<Bytes[]> => {
    if (older === size) return whole ? [] : [await tiles.subtree(start, start + size)];
    const k = splitOf(size);
    if (older <= k)
      return [...(await subproof(start, older, k, whole)), await tiles.subtree(start + k, start + size)];
    return [
      ...(await subproof(start + k, older - k, size - k, false)),
      await tiles.subtree(start, start + k),
    ];
  };
  return subproof(0, m, n, true);
}
