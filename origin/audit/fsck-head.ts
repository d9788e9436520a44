import type { Checkpoint } from '../../shared/checkpoint.ts';
import { sameBytes } from '../../shared/merkle/hash.ts';
import { type CheckpointKeys, openCheckpoint } from '../../shared/open-checkpoint.ts';
import type { CheckpointRow } from '../store/tree-table.ts';
import { rootWords, shorterWords } from './fsck-checkpoints.ts';
import type { FsckFaults } from './fsck-faults.ts';
import type { SignedHead } from './signed-head.ts';

type Signed = Pick<Checkpoint, 'size' | 'root'>;

/** The checkpoint that was signed last, as the file beside the database has it. */
export class HeadCheck {
  readonly #faults: FsckFaults;
  readonly #place: string;
  readonly #signed: Signed | undefined;

  private constructor(place: string, faults: FsckFaults, signed?: Signed) {
    this.#place = place;
    this.#faults = faults;
    this.#signed = signed;
  }

  /**
   * Reads the file. @param latest the newest checkpoint of the table, read before: an origin writes the file
   * first, so that it is never behind
   */
  static async read(
    head: Pick<SignedHead, 'place' | 'read'>,
    latest: CheckpointRow | undefined,
    keys: CheckpointKeys,
    faults: FsckFaults,
  ): Promise<HeadCheck> {
    const note = await head.read();
    const check = (signed?: Signed) => new HeadCheck(head.place, faults, signed);
    if (note === undefined && latest !== undefined)
      faults.add(
        'head',
        `${head.place} is gone, and with it what would show that the database is an older copy`,
      );
    // An empty file is a person's word that the database is the newest there is.
    if (!note) return check();
    const opened = openCheckpoint(note, keys);
    if (!opened.ok) {
      faults.add('head', `${head.place} does not hold a checkpoint of this log: ${opened.error.reason}`);
      return check();
    }
    const { checkpoint, at } = opened.value;
    const behind =
      latest !== undefined &&
      (checkpoint.size < latest.size || (checkpoint.size === latest.size && at < Date.parse(latest.at)));
    if (behind) faults.add('head', `${head.place} is older than the newest checkpoint of the database`);
    // What the table has too is compared with it.
    const same = latest?.size === checkpoint.size && sameBytes(latest.root, checkpoint.root);
    return check(same ? undefined : checkpoint);
  }

  /** @param root of the tree of that size */
  reached(size: number, root: () => Uint8Array): void {
    if (this.#signed?.size !== size || sameBytes(this.#signed.root, root())) return;
    this.#faults.add('root', `${this.#place}: ${rootWords(0, size)}`);
  }

  /** @param size how many records there are by now */
  rest(size: number): void {
    if (this.#signed !== undefined && this.#signed.size > size)
      this.#faults.add('shorter', `${this.#place}: ${shorterWords(this.#signed.size)}`);
  }
}
