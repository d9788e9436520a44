import type { StoredRow, StoreError } from '../store/store.ts';

/** What happens in a ledger, for log and metrics. None of it holds more of a record than the row's id and kind. */
export interface LedgerEvents {
  /** A group of so many records is durable. */
  committed?(size: number): void;
  /** The store does not take records; said once until it does again. */
  failing?(error: StoreError): void;
  recovered?(): void;
  /** A record of something that happened will not be written, or nobody can tell whether it was. */
  lost?(row: Pick<StoredRow, 'id' | 'kind'>): void;
}
