import type { LogInspector, PruningRow } from '../store/log-inspector.ts';
import { READ_MAX, type SequencedRow } from '../store/store.ts';
import type { FsckFaults } from './fsck-faults.ts';
import { PRUNED } from './retention-slices.ts';

/** Records that are known to tell of a pruning, at most: many ranges have one and the same. */
const TOLD_MAX = 10_000;

/** Whether each body that is gone was dropped by a pruning that the log tells of, and each that was dropped is gone. */
export class PruningCheck {
  readonly #log: Pick<LogInspector, 'prunings' | 'byId'>;
  readonly #faults: FsckFaults;
  /** Their places. */
  readonly #told = new Map<string, number>();

  constructor(log: Pick<LogInspector, 'prunings' | 'byId'>, faults: FsckFaults) {
    this.#log = log;
    this.#faults = faults;
  }

  /** Reads a run of rows, and what was and is pruned of them: an origin may go on pruning meanwhile. */
  async read(first: number, rows: () => Promise<readonly SequencedRow[]>): Promise<readonly SequencedRow[]> {
    const before = await this.#log.prunings(first, READ_MAX);
    const page = await rows();
    const gone = page.filter(({ canonical }) => canonical === undefined);
    for (const { seq, id, canonical } of page) {
      if (canonical !== undefined && rangeOf(before, seq) !== undefined)
        this.#faults.add('undone', 'it was pruned, and has a body', { place: seq, record: id });
    }
    if (gone.length > 0) await this.#checkTold(gone, await this.#log.prunings(first, READ_MAX));
    return page;
  }

  async #checkTold(gone: readonly SequencedRow[], ranges: readonly PruningRow[]): Promise<void> {
    for (const { seq, id } of gone) {
      const range = rangeOf(ranges, seq);
      const why = range === undefined ? 'no pruning covers it' : await this.#untold(range);
      if (why !== undefined) this.#faults.add('untold', why, { place: seq, record: id });
    }
  }

  /** Why the record that a pruning names does not tell of it. */
  async #untold({ last, control }: PruningRow): Promise<string | undefined> {
    const place = this.#told.get(control) ?? (await this.#placeOf(control));
    if (typeof place === 'string') return place;
    return place > last ? undefined : `the record ${control} that tells of it stands before it`;
  }

  /** The place of a record that tells of a pruning, or why it is none. One that is pruned itself told of it once. */
  async #placeOf(control: string): Promise<number | string> {
    const row = await this.#log.byId(control);
    if (row === undefined) return `the record ${control} that told of it is not in the log`;
    const said = row.canonical?.includes(`"selection_reason":"${PRUNED} `) ?? true;
    if (row.kind !== 'control' || !said) return `the record ${control} tells of something else`;
    if (this.#told.size === TOLD_MAX) this.#told.clear();
    this.#told.set(control, row.seq);
    return row.seq;
  }
}

/** The range that holds a place, by halving. */
function rangeOf(ranges: readonly PruningRow[], seq: number): PruningRow | undefined {
  let [low, high] = [0, ranges.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const range = ranges[middle];
    if (range === undefined || range.first > seq) high = middle;
    else if (range.last < seq) low = middle + 1;
    else return range;
  }
  return undefined;
}
