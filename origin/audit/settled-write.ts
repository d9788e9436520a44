import { type Store, type StoredRow, StoreError } from '../store/store.ts';
import { look } from './ledger-fate.ts';

/**
 * Does a write that brings a row into the log. Where it failed and its outcome is not known, the row tells: the
 * write then resolves if all was kept after all. Rejects with StoreError, `failed` where not even that is known.
 */
export async function settled(
  store: Pick<Store, 'byId'>,
  row: StoredRow,
  write: () => Promise<void>,
): Promise<void> {
  try {
    await write();
  } catch (cause) {
    const unknown = cause instanceof StoreError && cause.kind === 'failed';
    if (!unknown || (await look(store, row)) !== 'kept') throw cause;
  }
}
