import { StoreError, type StoreFault } from './store.ts';

/** Primary result codes of SQLite (https://www.sqlite.org/rescode.html) that mean something to a caller. */
const FAULT_OF: ReadonlyMap<number, StoreFault> = new Map([
  [5, 'busy'], // SQLITE_BUSY
  [6, 'busy'], // SQLITE_LOCKED
  [13, 'full'], // SQLITE_FULL
  [18, 'rejected'], // SQLITE_TOOBIG
  [19, 'rejected'], // SQLITE_CONSTRAINT, a RAISE of our triggers among them
  [20, 'rejected'], // SQLITE_MISMATCH
  [26, 'unfit'], // SQLITE_NOTADB
]);

/** The primary result code of an error that SQLite raised; extended codes keep it in their low byte. */
const resultCode = (error: unknown): number | undefined =>
  error instanceof Error && 'errcode' in error && typeof error.errcode === 'number'
    ? error.errcode & 0xff
    : undefined;

/** What an error in the database means. SQLite's messages name tables and columns, never values. */
export function storeErrorOf(error: unknown): StoreError {
  if (error instanceof StoreError) return error;
  const code = resultCode(error);
  const kind = (code === undefined ? undefined : FAULT_OF.get(code)) ?? 'failed';
  return new StoreError(kind, error instanceof Error ? error.message : 'unknown fault');
}
