import type { AuditRecord } from '../../shared/record.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { StoredRow } from '../store/store.ts';

export type Appended = Result<StoredRow, 'ledger_unavailable'>;

/** A record on its way into the log, and whoever waits for it. */
export class LedgerEntry {
  readonly record: AuditRecord;
  readonly row: StoredRow;
  #answer: ((result: Appended) => void) | undefined;
  #onAnswer: (() => void) | undefined;

  constructor(record: AuditRecord, row: StoredRow, answer?: (result: Appended) => void) {
    this.record = record;
    this.row = row;
    this.#answer = answer;
  }

  /** A `pending` announces a call. Every other kind tells what has happened, and is written however late. */
  get announces(): boolean {
    return this.record.kind === 'pending';
  }

  /** Whether the waiting caller has had an answer. */
  get answered(): boolean {
    return this.#answer === undefined;
  }

  /** Has `fn` called when the caller gets its answer. */
  onAnswer(fn: () => void): void {
    this.#onAnswer = fn;
  }

  kept(): void {
    this.#settle(ok(this.row));
  }

  refuse(): void {
    this.#settle(err('ledger_unavailable'));
  }

  #settle(result: Appended): void {
    const answer = this.#answer;
    this.#answer = undefined;
    this.#onAnswer?.();
    answer?.(result);
  }
}
