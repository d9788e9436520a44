import { type SequencedRow, type StoredRow, StoreError } from '../../origin/store/store.ts';
import { END_KINDS } from '../../shared/record.ts';
import type { MemoryTables } from './memory-tables.ts';

export const rejected = (why: string): StoreError => new StoreError('rejected', why);

export function append({ rows: log, open }: MemoryTables, rows: readonly StoredRow[]): void {
  const ids = new Set([...log, ...rows].map(({ id }) => id));
  if (ids.size < log.length + rows.length) throw rejected('an id is there already');
  for (const row of rows) {
    log.push({ ...row, seq: log.length });
    if (row.kind === 'pending') open.add(row.id);
    if (row.pendingId !== undefined && END_KINDS.some((end) => end === row.kind)) open.delete(row.pendingId);
  }
}

export const openPendings = ({ rows, open }: MemoryTables): SequencedRow[] =>
  rows.filter(({ id }) => open.has(id));
