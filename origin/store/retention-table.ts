import type { StoredRow } from './row.ts';

/** An order that records be kept beyond their time: those of a tenant, of a period, or both; else all. */
export interface HoldRow {
  readonly id: string;
  readonly tenant?: string;
  /** The period, by `at` of the records, both ends within it: RFC 3339, milliseconds, UTC. */
  readonly from?: string;
  readonly to?: string;
  /** Who placed it, why, and when. */
  readonly by: string;
  readonly why: string;
  readonly at: string;
  readonly releasedAt?: string;
  readonly releasedBy?: string;
}

/** Most holds that a store keeps, released ones among them: each one is weighed for each row that is pruned. */
export const HOLDS_MAX = 10_000;

/** Most places that one call prunes: appends wait for it. */
export const PRUNE_MAX = 10_000;

export interface HoldReader {
  /** Every hold ever placed, released or not, in the order of their placing. Bounded by HOLDS_MAX alone. */
  holds(): Promise<readonly HoldRow[]>;
}

/**
 * Both writes come with the `control` record that tells of them, which takes the next place in the log, in the
 * order of the calls as an `append` does, in the same transaction. Once they resolve all is durable. They reject
 * with StoreError and take as long as the database takes; after `failed`, `byId` of the control record tells
 * whether all was kept.
 */
export interface RetentionTable extends HoldReader {
  /**
   * Drops the bodies of the rows at these places, and what they can be found by: `canonical`, `requestId`,
   * `pendingId` and `tenant`. Nothing else of a row MUST change, and what is dropped MUST NOT be left behind in
   * free space of the database.
   *
   * It MUST reject as `rejected`, in the database itself: a place that is not in the log, is pruned already or is
   * named twice, a `pending` row without an end, a row under a hold that is not released, a record that is not of
   * the kind `control`, more than PRUNE_MAX places.
   */
  prune(control: StoredRow, seqs: readonly number[]): Promise<void>;
  /**
   * Places a hold, or releases the one of that id. MUST reject as `rejected` any other change of a hold that is
   * there, and more than HOLDS_MAX holds.
   */
  saveHold(control: StoredRow, hold: HoldRow): Promise<void>;
}
