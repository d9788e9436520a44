import { leafHash, sameBytes } from '../../shared/merkle/hash.ts';
import type { AuditRecord } from '../../shared/record.ts';
import { readRecord } from '../../shared/verify/records.ts';
import type { SequencedRow } from '../store/store.ts';
import type { FaultPlace, FsckFaults } from './fsck-faults.ts';

/** Holds the body of a row against its hash, its form and what the row is found by. */
export function checkRecord(
  row: SequencedRow,
  canonical: string,
  faults: FsckFaults,
): AuditRecord | undefined {
  const about: FaultPlace = { place: row.seq, record: row.id };
  if (!sameBytes(leafHash(canonical), row.leaf)) {
    faults.add('changed', 'the hash of its body is not its leaf', about);
  }
  const read = readRecord(canonical);
  if (!read.ok) {
    faults.add('form', read.error, about);
    return undefined;
  }
  const wrong = columnsOf(row, read.value).filter(([, found, said]) => found !== said);
  const names = wrong.map(([name]) => name).join(', ');
  if (names !== '') faults.add('column', `the row has another ${names} than its body`, about);
  return read.value;
}

const columnsOf = (row: SequencedRow, record: AuditRecord): readonly [string, unknown, unknown][] => [
  ['id', row.id, record.id],
  ['kind', row.kind, record.kind],
  ['time', row.at, record.at],
  ['request id', row.requestId, record.request_id],
  ['pending id', row.pendingId, record.pending_id],
  ['tenant', row.tenant, record.tenant],
];
