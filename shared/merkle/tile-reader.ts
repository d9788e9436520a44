import { joined, rootOver } from './frontier.ts';
import { EMPTY_ROOT } from './hash.ts';
import { perfectParts, type Range } from './ranges.ts';
import { TILE_WIDTH, type TileHashes } from './tiles.ts';

/** Hashes of these nodes of the tree of the first `size` leaves. */
export async function nodesOf(
  ranges: readonly Range[],
  size: number,
  hashes: TileHashes,
): Promise<readonly Uint8Array[]> {
  const tiles = new TileReader(size, hashes);
  return Promise.all(
    ranges.map(async (range) => {
      const parts = await Promise.all(perfectParts(range).map((part) => tiles.perfect(part)));
      return joined(parts) ?? EMPTY_ROOT;
    }),
  );
}

/** Reads each tile once, whole: a proof needs at most the tile on its path and the last one of each level. */
class TileReader {
  readonly #size: number;
  readonly #hashes: TileHashes;
  readonly #tiles = new Map<string, Promise<readonly Uint8Array[]>>();

  constructor(size: number, hashes: TileHashes) {
    this.#size = size;
    this.#hashes = hashes;
  }

  /** Root of a perfect subtree, out of the hashes of the one tile that it lies in. */
  async perfect({ from, to }: Range): Promise<Uint8Array> {
    const leaves = to - from;
    let [level, unit] = [0, 1];
    for (; unit * TILE_WIDTH <= leaves; level += 1) unit *= TILE_WIDTH;
    const first = from / unit;
    const tile = await this.#tile(level, Math.floor(first / TILE_WIDTH), unit);
    const within = first % TILE_WIDTH;
    return rootOver(tile.slice(within, within + leaves / unit));
  }

  #tile(level: number, index: number, unit: number): Promise<readonly Uint8Array[]> {
    const name = `${level}/${index}`;
    const known = this.#tiles.get(name);
    if (known !== undefined) return known;
    const first = index * TILE_WIDTH;
    const count = Math.min(TILE_WIDTH, Math.floor(this.#size / unit) - first);
    const tile = readExactly(this.#hashes, level, first, count);
    this.#tiles.set(name, tile);
    return tile;
  }
}

/** Reads, and rejects where fewer or more hashes come than were asked for. */
export async function readExactly(
  hashes: TileHashes,
  level: number,
  first: number,
  count: number,
): Promise<readonly Uint8Array[]> {
  const read = await hashes.read(level, first, count);
  if (read.length === count) return read;
  throw new RangeError(`${read.length} hashes of level ${level} from ${first} on, not ${count}`);
}
