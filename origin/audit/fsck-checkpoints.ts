import { sameBytes } from '../../shared/merkle/hash.ts';
import { type CheckpointKeys, openCheckpoint } from '../../shared/open-checkpoint.ts';
import type { CheckpointRow, TreeReader } from '../store/tree-table.ts';
import { hourClosed, rfc3339 } from './checkpoint-times.ts';
import { cosignedNote } from './cosigned.ts';
import type { FsckFaults } from './fsck-faults.ts';

/** Checkpoints that are read at once. */
const PAGE = 256;

/** Goes along the checkpoints while the tree is built, and holds each against the tree of its size. */
export class CheckpointCheck {
  readonly #log: Pick<TreeReader, 'checkpoints'>;
  readonly #keys: CheckpointKeys;
  readonly #logName: string;
  readonly #faults: FsckFaults;
  #page: CheckpointRow[] = [];
  #last: CheckpointRow | undefined;
  #seen = 0;
  #good = 0;
  #bad = 0;

  constructor(
    log: Pick<TreeReader, 'checkpoints'>,
    { keys, logName, faults }: { keys: CheckpointKeys; logName: string; faults: FsckFaults },
  ) {
    this.#log = log;
    this.#keys = keys;
    this.#logName = logName;
    this.#faults = faults;
  }

  /** How many have been read. */
  get seen(): number {
    return this.#seen;
  }

  /** Compares those of this size. @param root of the tree of that size */
  async reached(size: number, root: () => Uint8Array): Promise<void> {
    for (let next = await this.#next(); next !== undefined && next.size <= size; next = await this.#next()) {
      this.#take(next);
      if (next.size === size) this.#compare(next, root());
    }
  }

  /** The checkpoints that are over more records than have been read. @param size how many there are by now */
  async rest(size: () => Promise<number>): Promise<void> {
    for (let next = await this.#next(); next !== undefined; next = await this.#next()) {
      this.#take(next);
      if (next.size > (await size())) this.#faults.add('shorter', shorterWords(next.size), aboutOf(next));
    }
    if (this.#bad > 1)
      this.#faults.add(
        'root',
        `so are ${this.#bad - 1} later checkpoints: what was changed lies before all of them`,
      );
  }

  async #next(): Promise<CheckpointRow | undefined> {
    if (this.#page.length === 0)
      this.#page = [...(await this.#log.checkpoints(this.#last?.number ?? -1, PAGE))];
    return this.#page[0];
  }

  #take(row: CheckpointRow): void {
    this.#page.shift();
    this.#seen += 1;
    const before = this.#last;
    this.#last = row;
    const about = aboutOf(row);
    for (const reason of misplaced(row, before)) this.#faults.add('order', reason, about);
    const opened = openCheckpoint(cosignedNote(row), this.#keys);
    if (!opened.ok) {
      this.#faults.add('signature', opened.error.reason, about);
      return;
    }
    const { checkpoint, at } = opened.value;
    if (checkpoint.origin !== this.#logName)
      this.#faults.add('signature', `it is of the log ${checkpoint.origin}`, about);
    const says =
      checkpoint.size === row.size && sameBytes(checkpoint.root, row.root) && rfc3339(at) === row.at;
    if (!says)
      this.#faults.add('signature', 'its row says another size, root or time than was signed', about);
  }

  #compare(row: CheckpointRow, root: Uint8Array): void {
    if (sameBytes(root, row.root)) {
      this.#good = row.size;
      return;
    }
    this.#bad += 1;
    if (this.#bad === 1) this.#faults.add('root', rootWords(this.#good, row.size), aboutOf(row));
  }
}

const aboutOf = ({ number }: CheckpointRow) => ({ checkpoint: number });

export const rootWords = (good: number, size: number): string =>
  `the first ${size} records are not those that were signed; the first ${good} are`;

export const shorterWords = (size: number): string =>
  `it is over ${size} records: the database is an older copy`;

/** What is wrong with the place of a checkpoint behind the one before. */
function misplaced(row: CheckpointRow, before: CheckpointRow | undefined): string[] {
  const number = (before?.number ?? -1) + 1;
  const at = Date.parse(row.at);
  const hour = hourClosed(before && Date.parse(before.at), at);
  return [
    ...(row.number === number ? [] : [`the checkpoints from number ${number} on are missing`]),
    ...(before === undefined || row.size >= before.size ? [] : [`it is smaller than the one before`]),
    ...(before === undefined || row.at >= before.at ? [] : [`its time lies before the one before`]),
    ...(row.hour === (hour === undefined ? undefined : rfc3339(hour))
      ? []
      : ['it does not close the hour that it says']),
  ];
}
