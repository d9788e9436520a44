import { type Clock, timestamp } from '../clock.ts';
import type { Store, StoreError } from '../store/store.ts';
import { encodeRecord } from './encode.ts';
import { endingOf } from './ending.ts';
import { LedgerEntry } from './ledger-entry.ts';
import type { LedgerEvents } from './ledger-events.ts';
import { attempt, look } from './ledger-fate.ts';
import type { LedgerLimits } from './ledger-limits.ts';
import type { LedgerQueue } from './ledger-queue.ts';

export interface WriterSetup {
  readonly store: Pick<Store, 'append' | 'byId'>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly events: LedgerEvents;
  readonly limits: LedgerLimits;
}

/** Commits what waits, one group after the other, and takes care of what a store that failed leaves open. */
export class LedgerWriter {
  readonly #setup: WriterSetup;
  readonly #queue: LedgerQueue;
  #running: Promise<void> | undefined;
  #gaveUp = false;
  #failing = false;
  #groups = 0;
  #records = 0;

  constructor(setup: WriterSetup, queue: LedgerQueue) {
    this.#setup = setup;
    this.#queue = queue;
  }

  /** Groups and records made durable, and whether the store takes records. */
  get stats(): { readonly groups: number; readonly records: number; readonly failing: boolean } {
    return { groups: this.#groups, records: this.#records, failing: this.#failing };
  }

  get gaveUp(): boolean {
    return this.#gaveUp;
  }

  /** Sees to it that what waits is written; resolves when nothing waits any more. */
  wake(): Promise<void> {
    this.#running ??= this.#run();
    return this.#running;
  }

  /** Writes nothing more: all who wait are refused. */
  giveUp(): void {
    this.#gaveUp = true;
    for (const entry of this.#queue.empty()) this.lose(entry);
  }

  /** Refuses a record that will not be written. */
  lose(entry: LedgerEntry): void {
    entry.refuse();
    if (!entry.announces) this.#setup.events.lost?.(entry.row);
  }

  async #run(): Promise<void> {
    // A turn later, so that the records of one turn share a group.
    await Promise.resolve();
    while (this.#queue.size > 0) {
      const group = this.#queue.take(this.#setup.limits.groupMax);
      if (group.length > 0) await this.#commit(group);
    }
    this.#running = undefined;
  }

  async #commit(group: readonly LedgerEntry[]): Promise<void> {
    const rows = group.map((entry) => entry.row);
    const tried = await attempt(this.#setup.store, rows);
    switch (tried.fate) {
      case 'kept':
        this.#kept(group);
        break;
      case 'rejected':
        this.#rejected(group);
        break;
      case 'lost':
      case 'unknown':
        await this.#failed(group, tried.fate, tried.error);
    }
  }

  async #failed(group: readonly LedgerEntry[], fate: 'lost' | 'unknown', error: StoreError): Promise<void> {
    if (!this.#failing) this.#setup.events.failing?.(error);
    this.#failing = true;
    // Before the fate is known: nothing may be forwarded on a record that is perhaps not there.
    for (const entry of group) if (entry.announces) entry.refuse();
    if (error.kind === 'closed') this.giveUp();
    if (fate === 'unknown' && (await this.#wasKept(group))) {
      this.#kept(group);
      return;
    }
    // What has happened has happened, so its record is tried again. A call that was refused never took place.
    const happened = group.filter((entry) => !entry.announces);
    if (this.#gaveUp) {
      for (const entry of happened) this.lose(entry);
      return;
    }
    this.#queue.putBack(happened);
    await this.#pause();
  }

  /** Asks until the store can tell; meanwhile nothing else is written, so that the order holds. */
  async #wasKept([first]: readonly LedgerEntry[]): Promise<boolean> {
    while (first !== undefined && !this.#gaveUp) {
      const fate = await look(this.#setup.store, first.row);
      if (fate !== 'unknown') return fate === 'kept';
      await this.#pause();
    }
    return false;
  }

  #kept(group: readonly LedgerEntry[]): void {
    this.#groups += 1;
    this.#records += group.length;
    if (this.#failing) this.#setup.events.recovered?.();
    this.#failing = false;
    this.#setup.events.committed?.(group.length);
    const tooLate = group.filter((entry) => entry.announces && entry.answered);
    for (const entry of group) entry.kept();
    if (!this.#gaveUp) this.#queue.putBack(tooLate.map((entry) => this.#endingOf(entry)));
  }

  /** The caller was told `ledger_unavailable` and has forwarded nothing, so nobody else will end this one. */
  #endingOf({ record }: LedgerEntry): LedgerEntry {
    const { newId, clock } = this.#setup;
    const ending = { kind: 'failed', code: 'ledger_unavailable', id: newId(), at: timestamp(clock) } as const;
    const end = endingOf(record, ending);
    return new LedgerEntry(end, encodeRecord(end));
  }

  /** One row that cannot be kept must not take the others of its group with it, nor be tried for ever. */
  #rejected(group: readonly LedgerEntry[]): void {
    if (group.length > 1) this.#queue.putBackAlone(group);
    else for (const entry of group) this.lose(entry);
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => void this.#setup.clock.setTimeout(resolve, this.#setup.limits.retryMs));
  }
}
