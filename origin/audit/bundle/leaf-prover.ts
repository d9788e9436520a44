import { type Frontier, joined } from '../../../shared/merkle/frontier.ts';
import { nodeHash } from '../../../shared/merkle/hash.ts';
import { frontierOf } from '../../../shared/merkle/prove.ts';
import { perfectParts } from '../../../shared/merkle/ranges.ts';
import { TILE_WIDTH, type TileHashes } from '../../../shared/merkle/tiles.ts';

/** Levels of the tree that one tile spans. */
const TILE_HEIGHT = 8;

/** Tiles that are held at once, some 60 kB each: the paths of neighbours share all but the lowest. */
const TILES_MAX = 64;

/** A tile and the nodes above its hashes, level by level. */
type TileNodes = readonly (readonly Uint8Array[])[];

/**
 * Proves one leaf after the other in a tree of one size: the same proofs as `inclusionProof` gives, each node
 * hashed once for all of its leaves. Leaves in the order of the log read each tile once.
 */
export class LeafProver {
  readonly #size: number;
  readonly #hashes: TileHashes;
  readonly #edge: Frontier;
  readonly #tiles = new Map<string, Promise<TileNodes>>();

  private constructor(size: number, hashes: TileHashes, edge: Frontier) {
    this.#size = size;
    this.#hashes = hashes;
    this.#edge = edge;
  }

  static async over(size: number, hashes: TileHashes): Promise<LeafProver> {
    return new LeafProver(size, hashes, await frontierOf(size, hashes));
  }

  /** The inclusion proof of a leaf, RFC 6962 section 2.1.1, its sibling first. */
  async prove(index: number): Promise<readonly Uint8Array[]> {
    if (!Number.isSafeInteger(index) || index < 0 || index >= this.#size) {
      throw new RangeError(`there is no leaf ${index} among ${this.#size}`);
    }
    const path: Uint8Array[] = [];
    let [place, unit, level] = [index, 1, 0];
    for (; unit < this.#size; [place, unit, level] = [Math.floor(place / 2), unit * 2, level + 1]) {
      const sibling = place % 2 === 0 ? place + 1 : place - 1;
      if (sibling * unit >= this.#size) continue;
      const isWhole = (sibling + 1) * unit <= this.#size;
      path.push(isWhole ? await this.#node(level, sibling) : this.#edgeFrom(sibling * unit));
    }
    return path;
  }

  async #node(level: number, place: number): Promise<Uint8Array> {
    const within = level % TILE_HEIGHT;
    const width = 2 ** (TILE_HEIGHT - within);
    const nodes = await this.#tile((level - within) / TILE_HEIGHT, Math.floor(place / width));
    const node = nodes[within]?.[place % width];
    if (node === undefined) throw new RangeError(`the log gave no node ${place} of level ${level}`);
    return node;
  }

  /** The node at the right edge that begins with this leaf, whose subtree is not full. */
  #edgeFrom(start: number): Uint8Array {
    const parts = perfectParts({ from: 0, to: this.#size });
    const node = joined(this.#edge.hashes().slice(parts.findIndex(({ from }) => from === start)));
    if (node === undefined) throw new RangeError(`the tree has no edge from ${start} on`);
    return node;
  }

  #tile(level: number, index: number): Promise<TileNodes> {
    const name = `${level}/${index}`;
    const tile = this.#tiles.get(name) ?? this.#read(level, index);
    // Put back at the end, so that the first of the map is the one that was used least lately.
    this.#tiles.delete(name);
    this.#tiles.set(name, tile);
    const [oldest = name] = this.#tiles.keys();
    if (this.#tiles.size > TILES_MAX) this.#tiles.delete(oldest);
    return tile;
  }

  async #read(level: number, index: number): Promise<TileNodes> {
    const first = index * TILE_WIDTH;
    const count = Math.min(TILE_WIDTH, Math.floor(this.#size / TILE_WIDTH ** level) - first);
    const nodes = [await this.#hashes.read(level, first, count)];
    for (let below = nodes[0] ?? []; below.length > 1; ) {
      below = pairs(below);
      nodes.push(below);
    }
    return nodes;
  }
}

/** The nodes over each two neighbours; one that has none is at the edge. */
const pairs = (below: readonly Uint8Array[]): Uint8Array[] =>
  below.flatMap((right, index) => {
    const left = index % 2 === 1 ? below[index - 1] : undefined;
    return left === undefined ? [] : [nodeHash(left, right)];
  });
