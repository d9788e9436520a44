import { canonicalJson } from '../../shared/canonical.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { type AuditRecord, recordSchema } from '../../shared/record.ts';
import type { SequencedRow, StoredRow } from '../store/store.ts';

/** Longest canonical form in bytes: entry bundles give its length in 16 bits (C2SP tlog-tiles). */
export const RECORD_BYTES_MAX = 65_535;

/** What is left of each reason of a rejected candidate where a record would be too long, in characters. */
const SHORT_REASON = 64;

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
  const canonical = canonicalOf(record);
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

/** Only the reasons of rejected candidates can make a record too long; they are cut where they do. */
function canonicalOf(record: AuditRecord): string {
  const whole = canonicalJson(record);
  if (Buffer.byteLength(whole) <= RECORD_BYTES_MAX) return whole;
  const candidates = record.candidates?.map(({ endpoint, rejected }) => ({
    endpoint,
    rejected: rejected.slice(0, SHORT_REASON).toWellFormed(),
  }));
  const cut = canonicalJson({ ...record, ...(candidates && { candidates }) });
  if (Buffer.byteLength(cut) <= RECORD_BYTES_MAX) return cut;
  throw new Error(`audit record is longer than ${RECORD_BYTES_MAX} bytes`);
}

/** The record that a row of the log holds. Throws where the row is pruned or not of the schema. */
export function decodeRecord({ canonical }: Pick<SequencedRow, 'canonical'>): AuditRecord {
  if (canonical === undefined) throw new Error('the body of this record has been pruned');
  return recordSchema.parse(JSON.parse(canonical));
}
