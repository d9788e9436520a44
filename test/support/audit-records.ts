import { encodeRecord } from '../../origin/audit/encode.ts';
import { createRecordIds } from '../../origin/audit/record-id.ts';
import { systemClock } from '../../origin/clock.ts';
import type { StoredRow } from '../../origin/store/store.ts';
import { type AuditRecord, RECORD_VERSION, type RecordKind } from '../../shared/record.ts';

const newId = createRecordIds(systemClock);

/** A valid record of this kind, of a tenant in the zone eu. */
export const aRecord = (kind: RecordKind, members: Partial<AuditRecord> = {}): AuditRecord => ({
  v: RECORD_VERSION,
  kind,
  id: newId(),
  at: '2026-01-01T00:00:00.000Z',
  jurisdiction: 'eu',
  tenant: 'acme',
  request_id: 'req-1',
  ...members,
});

/** The same, as a store takes it. */
export const aRow = (kind: RecordKind, members: Partial<AuditRecord> = {}): StoredRow =>
  encodeRecord(aRecord(kind, members));

/** So many rows that belong to no call. */
export const someRows = (count: number): StoredRow[] => Array.from({ length: count }, () => aRow('refused'));
