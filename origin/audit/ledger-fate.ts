import { type Store, type StoredRow, StoreError } from '../store/store.ts';

/** What became of a group: `kept`, `lost`, `rejected` (lost, and would be again), or not known yet. */
export type Fate = 'kept' | 'lost' | 'rejected' | 'unknown';

export type Attempt =
  | { readonly fate: 'kept' }
  | { readonly fate: Exclude<Fate, 'kept'>; readonly error: StoreError };

/** Appends a group, and says what is known of it afterwards. Never rejects. */
export async function attempt(store: Pick<Store, 'append'>, rows: readonly StoredRow[]): Promise<Attempt> {
  try {
    await store.append(rows);
    return { fate: 'kept' };
  } catch (thrown) {
    const error = thrown instanceof StoreError ? thrown : new StoreError('failed', String(thrown));
    return { fate: fateOf(error), error };
  }
}

function fateOf({ kind }: StoreError): Exclude<Fate, 'kept'> {
  switch (kind) {
    case 'busy':
    case 'full':
    case 'closed':
    case 'unfit':
      return 'lost';
    case 'rejected':
      return 'rejected';
    case 'failed':
      return 'unknown';
  }
}

/** Whether a group whose append failed is in the log: groups are whole, so one row tells. Never rejects. */
export async function look(store: Pick<Store, 'byId'>, row: StoredRow): Promise<'kept' | 'lost' | 'unknown'> {
  try {
    return (await store.byId(row.id)) === undefined ? 'lost' : 'kept';
  } catch {
    return 'unknown';
  }
}
