import type { RecordKind } from '../../shared/record.ts';

/** One encoded record: what the database holds. Members beside `canonical` and `leaf` are for finding it. */
export interface StoredRow {
  /** The record's own id, a ULID; no two rows share one. */
  readonly id: string;
  readonly kind: RecordKind;
  /** RFC 3339, milliseconds, UTC. */
  readonly at: string;
  readonly requestId: string | undefined;
  /** Id of the `pending` row that this one belongs to. */
  readonly pendingId: string | undefined;
  readonly tenant: string | undefined;
  /** Canonical JSON of the record (RFC 8785). */
  readonly canonical: string;
  /** Merkle leaf hash of `canonical`, 32 bytes (RFC 6962 section 2.1). */
  readonly leaf: Uint8Array;
}

export interface SequencedRow extends Omit<StoredRow, 'canonical'> {
  /** Place in the log: 0 for the first row, without gaps, fixed when the group that holds it commits. */
  readonly seq: number;
  /** Undefined once the row is pruned, and so are `requestId`, `pendingId` and `tenant`. */
  readonly canonical: string | undefined;
}
