import { END_KINDS } from '../../shared/record.ts';
import { type LogReader, READ_MAX, type SequencedRow } from '../store/store.ts';
import type { FsckFaults } from './fsck-faults.ts';

type CallLog = Pick<LogReader, 'byId' | 'openPendings' | 'after' | 'size'>;

const isEnd = ({ kind }: SequencedRow): boolean => END_KINDS.some((end) => end === kind);

/** Follows each call to its one end. What it holds is bounded by the calls that go on at once. */
export class CallCheck {
  readonly #log: CallLog;
  readonly #faults: FsckFaults;
  /** Places of the `pending` rows without an end so far, by id. */
  readonly #open = new Map<string, number>();

  constructor(log: CallLog, faults: FsckFaults) {
    this.#log = log;
    this.#faults = faults;
  }

  /** Calls without an end. */
  get open(): number {
    return this.#open.size;
  }

  async see(row: SequencedRow): Promise<void> {
    if (row.canonical === undefined) return;
    if (row.kind === 'pending') this.#open.set(row.id, row.seq);
    if (row.pendingId === undefined) return;
    if (!this.#open.has(row.pendingId)) await this.#withoutPending(row, row.pendingId);
    else if (isEnd(row)) this.#open.delete(row.pendingId);
  }

  async #withoutPending({ seq, id }: SequencedRow, pendingId: string): Promise<void> {
    const pending = await this.#log.byId(pendingId);
    const about = { place: seq, record: id };
    if (pending === undefined) this.#faults.add('ends', 'it belongs to a call that is not in the log', about);
    else if (pending.seq > seq)
      this.#faults.add('ends', `its call begins later, at place ${pending.seq}`, about);
    else if (pending.canonical !== undefined)
      this.#faults.add('ends', `its call of place ${pending.seq} had ended before`, about);
  }

  /** Holds the store's own list against what was seen. @param size how many rows of the log have been seen */
  async compare(size: number): Promise<void> {
    const listed = await this.#log.openPendings(READ_MAX);
    const known = listed.filter(({ seq }) => seq < size);
    for (const { seq, id } of known) {
      if (!this.#open.has(id))
        this.#faults.add('open', 'it is listed as without an end, and has one', { place: seq, record: id });
    }
    // What came meanwhile has ended some of them, and where the list is full it says nothing of later ones.
    const last = listed.length < READ_MAX ? size : (known.at(-1)?.seq ?? -1) + 1;
    const ids = new Set([...known.map(({ id }) => id), ...(await this.#endedFrom(size))]);
    for (const [id, seq] of this.#open) {
      if (seq < last && !ids.has(id))
        this.#faults.add('open', 'it has no end, and is not listed so', { place: seq, record: id });
    }
  }

  async #endedFrom(size: number): Promise<readonly string[]> {
    const end = await this.#log.size();
    const ended: string[] = [];
    for (let next = size; next < end; ) {
      const page = await this.#log.after(next - 1, Math.min(READ_MAX, end - next));
      ended.push(...page.filter(isEnd).flatMap(({ pendingId }) => pendingId ?? []));
      next = (page.at(-1)?.seq ?? end) + 1;
    }
    return ended;
  }
}
