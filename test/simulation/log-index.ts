import { decodeRecord } from '../../origin/audit/encode.ts';
import type { SequencedRow } from '../../origin/store/store.ts';
import { type AuditRecord, END_KINDS } from '../../shared/record.ts';

export interface Logged {
  readonly row: SequencedRow;
  readonly record: AuditRecord;
}

export const isEnd = ({ kind }: AuditRecord): boolean => END_KINDS.some((end) => end === kind);

/** The durable rows of the log, read on as they come, by what one asks them for. */
export class LogIndex {
  readonly #rows: readonly SequencedRow[];
  readonly byId = new Map<string, Logged>();
  readonly byRequest = new Map<string, Logged[]>();
  /** Ends, by the id of their `pending`. */
  readonly ends = new Map<string, Logged[]>();
  #read = 0;

  constructor(rows: readonly SequencedRow[]) {
    this.#rows = rows;
  }

  /** Reads what is new, and gives it one by one: none is known before the one that came before it was judged. */
  *catchUp(): Generator<Logged> {
    for (let row = this.#rows[this.#read]; row !== undefined; row = this.#rows[this.#read]) {
      this.#read += 1;
      const logged = { row, record: decodeRecord(row) };
      const { id, request_id: request = '', pending_id: pending } = logged.record;
      this.byId.set(id, logged);
      append(this.byRequest, request, logged);
      if (pending !== undefined && isEnd(logged.record)) append(this.ends, pending, logged);
      yield logged;
    }
  }

  pendingsOf(request: string): readonly Logged[] {
    return (this.byRequest.get(request) ?? []).filter(({ record }) => record.kind === 'pending');
  }
}

function append<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
