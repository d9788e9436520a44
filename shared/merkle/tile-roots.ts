import { rootOver } from './frontier.ts';
import { readExactly } from './tile-reader.ts';
import { TILE_WIDTH, type TileHashes } from './tiles.ts';

/** The root of a full tile of level `level - 1`, which stands at place `index` of tile level `level`. */
export interface TileRoot {
  readonly level: number;
  readonly index: number;
  readonly hash: Uint8Array;
}

/**
 * Roots of all tiles that become full while the tree grows from `from` to `to` leaves, lower levels first. Reads
 * leaf hashes up to `to` and, of the levels above, only what a tree of `from` leaves already has.
 */
export async function newTileRoots(
  from: number,
  to: number,
  hashes: TileHashes,
): Promise<readonly TileRoot[]> {
  const made: TileRoot[] = [];
  let below: Level = { level: 0, known: to, fresh: [] };
  for (let unit = TILE_WIDTH; unit <= to; unit *= TILE_WIDTH) {
    const [known, full] = [Math.floor(from / unit), Math.floor(to / unit)];
    const level = below.level + 1;
    const fresh: Uint8Array[] = [];
    for (let index = known; index < full; index += 1) {
      const hash = copyOf(rootOver(await tileOf(below, index, hashes)));
      fresh.push(hash);
      made.push({ level, index, hash });
    }
    below = { level, known, fresh };
  }
  return made;
}

/** With memory of its own: a hash is a piece of a larger buffer, which would be kept and sent on with each one. */
const copyOf = (hash: Uint8Array): Buffer => Buffer.from(Uint8Array.from(hash).buffer);

/** One level of tiles: so many hashes can be read, and those that follow them have just been made. */
interface Level {
  readonly level: number;
  readonly known: number;
  readonly fresh: readonly Uint8Array[];
}

async function tileOf({ level, known, fresh }: Level, index: number, hashes: TileHashes) {
  const first = index * TILE_WIDTH;
  const readable = Math.max(0, Math.min(TILE_WIDTH, known - first));
  const read = readable === 0 ? [] : await readExactly(hashes, level, first, readable);
  const next = first + readable - known;
  return [...read, ...fresh.slice(next, next + TILE_WIDTH - readable)];
}
