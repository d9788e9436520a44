import { Frontier, rootOver } from '../../shared/merkle/frontier.ts';
import { sameBytes } from '../../shared/merkle/hash.ts';
import { TILE_WIDTH } from '../../shared/merkle/tiles.ts';
import { READ_MAX } from '../store/store.ts';
import type { TreeReader } from '../store/tree-table.ts';
import type { FsckFaults } from './fsck-faults.ts';

/** Builds the tree anew out of its leaves, and holds the inner hashes that are kept against it. */
export class TreeCheck {
  readonly #log: Pick<TreeReader, 'hashes'>;
  readonly #faults: FsckFaults;
  /** Leaves that some checkpoint covers, so that their inner hashes must be there. */
  readonly #covered: number;
  readonly #edge = Frontier.empty();
  /** Of each level the hashes of the tile that is not full yet, and how many tiles have been. */
  readonly #levels: { open: Uint8Array[]; full: number }[] = [];
  readonly #pages = new Map<number, { first: number; hashes: readonly Uint8Array[] }>();

  constructor(log: Pick<TreeReader, 'hashes'>, covered: number, faults: FsckFaults) {
    this.#log = log;
    this.#covered = covered;
    this.#faults = faults;
  }

  root(): Uint8Array {
    return this.#edge.root();
  }

  async add(leaf: Uint8Array): Promise<void> {
    this.#edge.append(leaf);
    await this.#put(0, leaf);
  }

  async #put(level: number, hash: Uint8Array): Promise<void> {
    const tiles = this.#levels[level] ?? { open: [], full: 0 };
    this.#levels[level] = tiles;
    tiles.open.push(hash);
    if (tiles.open.length < TILE_WIDTH) return;
    const root = rootOver(tiles.open);
    tiles.open = [];
    tiles.full += 1;
    await this.#compare(level + 1, tiles.full - 1, root);
    await this.#put(level + 1, root);
  }

  async #compare(level: number, index: number, root: Uint8Array): Promise<void> {
    const width = TILE_WIDTH ** level;
    const kept = await this.#kept(level, index);
    if (kept !== undefined && sameBytes(kept, root)) return;
    if (kept === undefined && (index + 1) * width > this.#covered) return;
    const what = kept === undefined ? 'is missing' : 'is another';
    const reason = `the hash over the places ${index * width} to ${(index + 1) * width - 1} (level ${level}, place ${index}) ${what}`;
    this.#faults.add('tile', reason, { place: index * width });
  }

  async #kept(level: number, index: number): Promise<Uint8Array | undefined> {
    const page = this.#pages.get(level);
    const known = page?.hashes[index - page.first];
    if (known !== undefined) return known;
    const hashes = await this.#log.hashes(level, index, READ_MAX);
    this.#pages.set(level, { first: index, hashes });
    return hashes[0];
  }

  /** Names kept hashes that no checkpoint covers. An origin may go on publishing: so the hashes are read first. */
  async checkEnd(covered: () => Promise<number>): Promise<void> {
    const found: { level: number; index: number }[] = [];
    for (let [level, index] = [1, Math.floor(this.#edge.size / TILE_WIDTH)]; ; level += 1) {
      if ((await this.#log.hashes(level, index, 1)).length > 0) found.push({ level, index });
      if (index === 0) break;
      index = Math.floor(index / TILE_WIDTH);
    }
    const size = await covered();
    for (const { level, index } of found) {
      const place = index * TILE_WIDTH ** level;
      if (place + TILE_WIDTH ** level > size)
        this.#faults.add('tile', `a hash of level ${level} is there that no checkpoint covers`, { place });
    }
  }
}
