import { HASH_BYTES, sameBytes } from '../../../shared/merkle/hash.ts';
import { consistencyProof } from '../../../shared/merkle/prove.ts';
import { TILE_WIDTH, type TileHashes, tilePath } from '../../../shared/merkle/tiles.ts';
import { verifyConsistency } from '../../../shared/merkle/verify-proof.ts';
import { openCheckpoint } from '../../../shared/open-checkpoint.ts';
import { checkpointKeys } from '../../../shared/verify/trust.ts';
import type { Tally } from './tally.ts';
import type { Target } from './target.ts';

/** Earlier checkpoints that a new one is held against, at most. */
const EARLIER_MAX = 500;

/** Tiles that are remembered, at most. */
const TILES_MAX = 4_096;

interface Seen {
  readonly size: number;
  readonly root: Uint8Array;
  readonly at: number;
}

/** Looks at every checkpoint that is published, as an auditor does who reads the log over its tiles. */
export class CheckpointWatch {
  readonly #target: Target;
  readonly #tally: Tally;
  readonly #seen: Seen[] = [];
  readonly #tiles = new Map<string, Uint8Array>();

  constructor(target: Target, tally: Tally) {
    this.#target = target;
    this.#tally = tally;
  }

  async look(): Promise<void> {
    try {
      const note = await (await this.#target.askAdmin('/log/checkpoint')).text();
      await this.#take(note);
    } catch (cause) {
      this.#tally.fault(`the log could not be read: ${cause instanceof Error ? cause.message : 'unknown'}`);
    }
  }

  async #take(note: string): Promise<void> {
    const { trust } = this.#target;
    const opened = openCheckpoint(note, checkpointKeys(trust, trust.log ?? ''));
    if (!opened.ok) {
      this.#tally.fault(`a checkpoint is ${opened.error.fault}: ${opened.error.reason}`);
      return;
    }
    const { checkpoint, at } = opened.value;
    const next = { size: checkpoint.size, root: checkpoint.root, at };
    const last = this.#seen.at(-1);
    if (last?.size === next.size && last.at === at && sameBytes(last.root, next.root)) return;
    this.#tally.checkpoints += 1;
    if (last !== undefined && (last.size > next.size || last.at > at))
      this.#tally.fault(`the checkpoint of ${next.size} records came after the one of ${last.size}`);
    for (const earlier of this.#seen) await this.#compare(earlier, next);
    this.#seen.push(next);
    // The first one stays: it is the longest proof.
    if (this.#seen.length > EARLIER_MAX) this.#seen.splice(1, 1);
  }

  async #compare(from: Seen, to: Seen): Promise<void> {
    if (from.size > to.size) return;
    const proof = await consistencyProof(from.size, to.size, this.#hashes);
    const claim = { from: from.size, to: to.size, fromRoot: from.root, toRoot: to.root, proof };
    if (verifyConsistency(claim)) this.#tally.consistencies += 1;
    else this.#tally.fault(`the tree of ${from.size} records does not begin the one of ${to.size}`);
  }

  readonly #hashes: TileHashes = {
    read: async (level, first, count) => {
      const offset = first % TILE_WIDTH;
      const bytes = await this.#tile(tilePath(level, Math.floor(first / TILE_WIDTH), offset + count));
      return Array.from({ length: count }, (_, index) =>
        bytes.subarray((offset + index) * HASH_BYTES, (offset + index + 1) * HASH_BYTES),
      );
    },
  };

  async #tile(path: string): Promise<Uint8Array> {
    const known = this.#tiles.get(path);
    if (known !== undefined) return known;
    const response = await this.#target.askAdmin(`/log/${path}`);
    if (response.status !== 200) throw new Error(`${path} answered ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer());
    if (this.#tiles.size === TILES_MAX) this.#tiles.clear();
    this.#tiles.set(path, bytes);
    return bytes;
  }
}
