import type { CheckpointKeys } from '../../shared/open-checkpoint.ts';
import type { LogInspector } from '../store/log-inspector.ts';
import { READ_MAX, type SequencedRow, StoreError } from '../store/store.ts';
import { CallCheck } from './fsck-calls.ts';
import { CheckpointCheck } from './fsck-checkpoints.ts';
import type { FsckFaults } from './fsck-faults.ts';
import type { HeadCheck } from './fsck-head.ts';
import { PolicyCheck } from './fsck-policies.ts';
import { PruningCheck } from './fsck-prunings.ts';
import { checkRecord } from './fsck-record.ts';
import { TreeCheck } from './fsck-tree.ts';

export interface WalkParts {
  readonly log: LogInspector;
  readonly logName: string;
  /** Every key that the log has had, and those of its witnesses. */
  readonly keys: CheckpointKeys;
  readonly onProgress?: (looked: number, of: number) => void;
}

/** The way along the records, from the first to the last. */
export class FsckWalk {
  readonly #parts: WalkParts;
  readonly #faults: FsckFaults;
  readonly #head: HeadCheck;
  readonly #tree: TreeCheck;
  readonly #checkpoints: CheckpointCheck;
  readonly #calls: CallCheck;
  readonly #prunings: PruningCheck;
  readonly #policies: PolicyCheck;
  #next = 0;
  #pruned = 0;
  /** Without all leaves nothing can be said of the tree any more. */
  #whole = true;

  constructor(parts: WalkParts, faults: FsckFaults, head: HeadCheck, covered: number) {
    const { log } = parts;
    this.#parts = parts;
    this.#faults = faults;
    this.#head = head;
    this.#tree = new TreeCheck(log, covered, faults);
    this.#checkpoints = new CheckpointCheck(log, { ...parts, faults });
    this.#calls = new CallCheck(log, faults);
    this.#prunings = new PruningCheck(log, faults);
    this.#policies = new PolicyCheck(log, faults);
  }

  get counts() {
    const { open } = this.#calls;
    return {
      records: this.#next,
      pruned: this.#pruned,
      checkpoints: this.#checkpoints.seen,
      open_calls: open,
    };
  }

  async records(size: number): Promise<void> {
    await this.#reached();
    while (this.#next < size) {
      const limit = Math.min(READ_MAX, size - this.#next);
      const first = this.#next;
      const page = await this.#prunings.read(first, () => this.#rows(limit));
      for (const row of page) await this.#take(row);
      if (this.#next === first) this.#gap(size);
      this.#parts.onProgress?.(this.#next, size);
    }
  }

  async end(size: number): Promise<void> {
    const { log } = this.#parts;
    await this.#checkpoints.rest(() => log.size());
    this.#head.rest(await log.size());
    await this.#calls.compare(size);
    await this.#policies.end();
    if (this.#whole) await this.#tree.checkEnd(async () => (await log.latestCheckpoint())?.size ?? 0);
  }

  async #take(row: SequencedRow): Promise<void> {
    if (row.seq !== this.#next) this.#gap(row.seq);
    this.#next = row.seq + 1;
    if (row.canonical === undefined) this.#pruned += 1;
    else {
      const record = checkRecord(row, row.canonical, this.#faults);
      if (record !== undefined) this.#policies.see(record, row.seq);
    }
    await this.#calls.see(row);
    await this.#grow(row.leaf);
  }

  async #grow(leaf: Uint8Array): Promise<void> {
    if (!this.#whole) return;
    await this.#tree.add(leaf);
    await this.#reached();
  }

  async #reached(): Promise<void> {
    const root = () => this.#tree.root();
    this.#head.reached(this.#next, root);
    await this.#checkpoints.reached(this.#next, root);
  }

  #gap(next: number): void {
    const reason = `the places ${this.#next} to ${next - 1} are missing: no tree behind them can be built`;
    this.#faults.add('gap', reason, { place: this.#next });
    this.#whole = false;
    this.#next = next;
  }

  /** The next rows; where one of them cannot be read, those before it, and then those after. */
  async #rows(limit: number): Promise<readonly SequencedRow[]> {
    const { log } = this.#parts;
    try {
      return await log.after(this.#next - 1, limit);
    } catch (cause) {
      if (!(cause instanceof StoreError) || cause.kind !== 'failed') throw cause;
      if (limit > 1) return await this.#rows(Math.floor(limit / 2));
      this.#faults.add('unreadable', cause.message, { place: this.#next });
      await this.#skip();
      return [];
    }
  }

  /** What is left of a row that cannot be read is its leaf. */
  async #skip(): Promise<void> {
    const [leaf] = await this.#parts.log.hashes(0, this.#next, 1);
    if (leaf === undefined) return;
    this.#next += 1;
    await this.#grow(leaf);
  }
}
