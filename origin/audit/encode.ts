import { canonicalJson } from '../../shared/canonical.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { type AuditRecord, recordSchema } from '../../shared/record.ts';
import type { StoredRow } from '../store/store.ts';

/**
 * A record as the log holds it: its canonical JSON (RFC 8785) and the leaf hash of that. Throws where the record
 * breaks its schema, which is a fault in the program; the message names members and never their values.
 */
export function encodeRecord(record: AuditRecord): StoredRow {
  const checked = recordSchema.safeParse(record);
  if (!checked.success) {
    const faults = checked.error.issues.map((issue) => [...issue.path, `(${issue.code})`].join(' '));
    throw new Error(`audit record breaks its schema: ${faults.join(', ')}`);
  }
  const canonical = canonicalJson(record);
  return {
    id: record.id,
    kind: record.kind,
    at: record.at,
    requestId: record.request_id,
    pendingId: record.pending_id,
    tenant: record.tenant,
    canonical,
    leaf: leafHash(canonical),
  };
}

/** The record that a row of the log holds. Throws where the row is not of the schema. */
export const decodeRecord = (row: StoredRow): AuditRecord => recordSchema.parse(JSON.parse(row.canonical));
