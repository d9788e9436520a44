import { HOLDS_MAX, type HoldRow, PRUNE_MAX } from '../../origin/store/retention-table.ts';
import type { SequencedRow, StoredRow } from '../../origin/store/store.ts';
import { append, rejected } from './memory-log.ts';
import type { MemoryTables } from './memory-tables.ts';

export function prune(tables: MemoryTables, control: StoredRow, seqs: readonly number[]): void {
  if (seqs.length > PRUNE_MAX || new Set(seqs).size < seqs.length) throw rejected('too many, or one twice');
  const pruned = seqs.map((seq) => prunable(tables, control, seq));
  append(tables, [control]);
  for (const row of pruned) {
    const { seq, id, kind, at, leaf } = row;
    const gone = { canonical: undefined, requestId: undefined, pendingId: undefined, tenant: undefined };
    tables.rows[seq] = { seq, id, kind, at, leaf, ...gone };
  }
}

function prunable({ rows, open, holds }: MemoryTables, control: StoredRow, seq: number): SequencedRow {
  const row = rows[seq];
  if (row?.canonical === undefined) throw rejected('not in the log, or pruned already');
  if (control.kind !== 'control') throw rejected('nothing tells of it');
  if (open.has(row.id)) throw rejected('a call that has no end');
  if ([...holds.values()].some((hold) => isUnder(hold, row))) throw rejected('under a hold');
  return row;
}

const isUnder = ({ releasedAt, tenant, from, to }: HoldRow, row: SequencedRow): boolean =>
  releasedAt === undefined &&
  (tenant === undefined || tenant === row.tenant) &&
  (from === undefined || from <= row.at) &&
  (to === undefined || row.at <= to);

export function saveHold(tables: MemoryTables, control: StoredRow, hold: HoldRow): void {
  const { holds } = tables;
  const old = holds.get(hold.id);
  if (old === undefined && holds.size >= HOLDS_MAX) throw rejected('too many holds');
  if (old !== undefined && !isReleaseOf(hold, old)) throw rejected('only released, and once');
  append(tables, [control]);
  holds.set(hold.id, hold);
}

function isReleaseOf({ releasedAt, releasedBy, ...hold }: HoldRow, old: HoldRow): boolean {
  if (releasedAt === undefined || releasedBy === undefined || old.releasedAt !== undefined) return false;
  const members = [...new Set([...Object.keys(hold), ...Object.keys(old)])];
  return members.every((name) => Reflect.get(hold, name) === Reflect.get(old, name));
}
