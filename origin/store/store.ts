import type { PolicyReader, PolicyTable } from './policy-table.ts';
import type { HoldReader, RetentionTable } from './retention-table.ts';
import type { SequencedRow, StoredRow } from './row.ts';
import type { TreeReader, TreeTable } from './tree-table.ts';

export type { SequencedRow, StoredRow } from './row.ts';

/**
 * Why a store did not do what it was asked:
 * - `busy`: somebody else holds the database. Nothing was kept; it may work a moment later.
 * - `full`: no room. Nothing was kept; it works again once there is room.
 * - `rejected`: a row itself cannot be kept, say because its id is there already. Nothing was kept, and the
 *   same group would be rejected again.
 * - `closed`: the store has been closed. Nothing was kept.
 * - `unfit`: the database is not one that this program may use. The message says what to do.
 * - `failed`: anything else. Whether the group was kept is not known until a read tells.
 */
export type StoreFault = 'busy' | 'full' | 'rejected' | 'closed' | 'unfit' | 'failed';

export class StoreError extends Error {
  readonly kind: StoreFault;

  /** `message` is for operators and MUST NOT hold anything of a row. */
  constructor(kind: StoreFault, message: string) {
    super(message);
    this.name = 'StoreError';
    this.kind = kind;
  }
}

/** Most rows that one read gives, whatever its `limit`; a reader that wants more comes again. */
export const READ_MAX = 1_000;

/**
 * Reads of the log. Rows come in the order of `seq`. A read MUST see every group whose `append` had resolved
 * when the read began, MUST NOT see a part of a group, and MUST NOT wait behind a group that is being
 * committed. It rejects with StoreError, and within a bounded time.
 *
 * Of a row that is pruned only `after`, `latest` and `byId` know: it cannot be found by what has been dropped.
 */
export interface LogReader {
  /** How many rows there are: the place of the next one. */
  size(): Promise<number>;
  /** The oldest `pending` rows that no row of a kind in END_KINDS names as its `pendingId`. */
  openPendings(limit: number): Promise<readonly SequencedRow[]>;
  /** The newest rows with this request id that belong to this tenant. Request ids are the callers' and repeat. */
  ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]>;
  /** The rows that follow the place `seq`; -1 starts at the first. */
  after(seq: number, limit: number): Promise<readonly SequencedRow[]>;
  /** The newest rows. */
  latest(limit: number): Promise<readonly SequencedRow[]>;
  byId(id: string): Promise<SequencedRow | undefined>;
  /**
   * Of each endpoint the newest `violation` row whose record has the `region_verdict` `mismatch`; of these rows
   * those that follow the place `seq`. Read at each start, so it MUST come from an index and not from the log.
   */
  lastMismatches(seq: number, limit: number): Promise<readonly SequencedRow[]>;
  /** The `control` rows whose record is about this endpoint and that follow the place `seq`; from an index too. */
  controlsOf(endpoint: string, seq: number, limit: number): Promise<readonly SequencedRow[]>;
  close(): Promise<void>;
}

/** What is kept of the circuit of one endpoint. */
export interface CircuitRow {
  readonly endpoint: string;
  /** JSON, which the store does not look into. */
  readonly state: string;
  /** When it was written, RFC 3339, milliseconds, UTC. */
  readonly at: string;
}

/**
 * The circuits of a zone's endpoints, so that they outlive a process. They are not evidence: one row for each
 * endpoint, overwritten. Both calls reject with StoreError, and within a bounded time.
 */
export interface CircuitTable {
  /** The rows that follow an endpoint id, in the order of the ids' bytes; '' starts at the first. */
  circuits(after: string, limit: number): Promise<readonly CircuitRow[]>;
  /**
   * Puts the rows in the place of those of the same endpoints, all or none; the last of two for one endpoint
   * holds. Once it resolves they are durable. It MUST NOT touch the log.
   */
  saveCircuits(rows: readonly CircuitRow[]): Promise<void>;
}

/** All that can be read of a store, also by who does not write it. */
export interface StoreReader extends LogReader, TreeReader, PolicyReader, HoldReader {}

/**
 * The durable, append-only log of one zone, and what beside it has to outlive a process.
 *
 * A store MUST enforce in the database itself that rows are neither changed, but by `prune`, nor removed, and
 * that `seq` has no gap. It MUST refuse a database of another zone, of another program or of a newer schema, and MUST NOT begin
 * a new log over the remains of an old one. It MUST come back by itself when the cause of a fault has gone.
 */
export interface Store extends LogReader, CircuitTable, TreeTable, PolicyTable, RetentionTable {
  /**
   * Adds the rows in the order given, all or none. Once it resolves they are durable: a crash of the process or
   * the machine MUST NOT lose them. Groups take their places in the order of the calls.
   *
   * It rejects with StoreError. It MUST NOT settle while the outcome can still change: after `failed`, what
   * `byId` then answers for a row of the group is final. It may take as long as the database takes; whoever
   * cannot wait bounds the wait and not the append.
   */
  append(rows: readonly StoredRow[]): Promise<void>;
  /** Resolves if the store could write just now, by a small write of its own. */
  ready(): Promise<void>;
  /** Ends what is under way, then closes. Bounded. Calls made afterwards reject with `closed`. */
  close(): Promise<void>;
}
