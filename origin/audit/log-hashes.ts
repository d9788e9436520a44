import type { TileRoot } from '../../shared/merkle/tile-roots.ts';
import type { TileHashes } from '../../shared/merkle/tiles.ts';
import type { TreeReader } from '../store/tree-table.ts';

/** The hashes of the tree that a store holds. Rejects as the store does. */
export const storedHashes = (store: Pick<TreeReader, 'hashes'>): TileHashes => ({
  read: (level, first, count) => store.hashes(level, first, count),
});

/** The hashes of a tree of which some roots have been made and are not kept yet. */
export function hashesWith(below: TileHashes, roots: readonly TileRoot[]): TileHashes {
  const fresh = new Map(roots.map(({ level, index, hash }) => [`${level}/${index}`, hash]));
  return {
    read: async (level, first, count) => {
      const places = Array.from({ length: count }, (_, offset) => `${level}/${first + offset}`);
      const made = places.map((place) => fresh.get(place));
      const known = made.lastIndexOf(undefined) + 1;
      const read = known === 0 ? [] : await below.read(level, first, known);
      return [...read, ...made.slice(known).filter((hash) => hash !== undefined)];
    },
  };
}

/** Reads each run of hashes once: for proofs of one answer, which share most of their tiles. */
export function readOnce(below: TileHashes): TileHashes {
  const known = new Map<string, Promise<readonly Uint8Array[]>>();
  return {
    read: (level, first, count) => {
      const run = `${level}/${first}/${count}`;
      const read = known.get(run) ?? below.read(level, first, count);
      known.set(run, read);
      return read;
    },
  };
}
