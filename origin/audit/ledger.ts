import type { AuditRecord } from '../../shared/record.ts';
import { encodeRecord } from './encode.ts';
import { type Appended, LedgerEntry } from './ledger-entry.ts';
import type { LedgerEvents } from './ledger-events.ts';
import { LEDGER_LIMITS, type LedgerLimits } from './ledger-limits.ts';
import { LedgerQueue } from './ledger-queue.ts';
import { LedgerWriter, type WriterSetup } from './ledger-writer.ts';

export type { Appended } from './ledger-entry.ts';
export type { LedgerEvents } from './ledger-events.ts';
export { LEDGER_LIMITS, type LedgerLimits } from './ledger-limits.ts';

export interface LedgerStats {
  /** Records that wait for their group. */
  readonly queued: number;
  /** Groups and records that have become durable since the start. */
  readonly groups: number;
  readonly records: number;
  /** The store did not take the last group. */
  readonly failing: boolean;
}

export interface Ledger {
  /**
   * Writes one record; records are written in the order of the calls. Resolves once it is durable, or to
   * `ledger_unavailable` after `appendMs` at most; then nothing may be forwarded or answered on it. A `pending`
   * so refused is not written, or, where the store kept it all the same, is ended by the ledger. A record of
   * any other kind tells what has happened: it is still written as soon as the store takes it. Rejects where
   * the record breaks its schema.
   */
  append(record: AuditRecord): Promise<Appended>;
  stats(): LedgerStats;
  /**
   * Takes no more records and waits until those that are queued are durable, `drainMs` at most. To be called
   * before the store is closed.
   */
  close(): Promise<void>;
}

export interface LedgerSetup extends Omit<WriterSetup, 'events' | 'limits'> {
  readonly events?: LedgerEvents;
  readonly limits?: Partial<LedgerLimits>;
}

/** A ledger over a store: while one group is being committed, newcomers queue to be the next. */
export const createLedger = (setup: LedgerSetup): Ledger => new GroupLedger(setup);

class GroupLedger implements Ledger {
  readonly #setup: WriterSetup;
  readonly #queue: LedgerQueue;
  readonly #writer: LedgerWriter;
  #closing: Promise<void> | undefined;

  constructor({ events = {}, limits, ...setup }: LedgerSetup) {
    this.#setup = { ...setup, events, limits: { ...LEDGER_LIMITS, ...limits } };
    this.#queue = new LedgerQueue(this.#setup.limits.queueMax);
    this.#writer = new LedgerWriter(this.#setup, this.#queue);
  }

  async append(record: AuditRecord): Promise<Appended> {
    const row = encodeRecord(record);
    return await new Promise((resolve) => this.#admit(new LedgerEntry(record, row, resolve)));
  }

  stats(): LedgerStats {
    return { queued: this.#queue.size, ...this.#writer.stats };
  }

  close(): Promise<void> {
    this.#closing ??= this.#drain();
    return this.#closing;
  }

  #admit(entry: LedgerEntry): void {
    const closed = this.#closing !== undefined || this.#writer.gaveUp;
    if (closed || !this.#queue.hasRoomFor(entry)) {
      this.#writer.lose(entry);
      return;
    }
    const expire = (): void => {
      entry.refuse();
      if (entry.announces) this.#queue.withdraw(entry);
    };
    entry.onAnswer(this.#setup.clock.setTimeout(expire, this.#setup.limits.appendMs));
    this.#queue.add(entry);
    void this.#writer.wake();
  }

  async #drain(): Promise<void> {
    const { clock, limits } = this.#setup;
    await new Promise<void>((resolve) => {
      const cancel = clock.setTimeout(resolve, limits.drainMs);
      void this.#writer.wake().then(() => {
        cancel();
        resolve();
      });
    });
    this.#writer.giveUp();
  }
}
