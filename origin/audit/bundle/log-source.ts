import type { ReceiptLine } from '../../../shared/bundle.ts';
import type { TileHashes } from '../../../shared/merkle/tiles.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import type { Zone } from '../../../shared/zones.ts';

/** One place of the log. */
export interface LogEntry {
  readonly seq: number;
  readonly leaf: Uint8Array;
  /** Null once its body is pruned. */
  readonly record: AuditRecord | null;
}

/** A checkpoint as it was signed, with the lines of witnesses that have come since. */
export interface LogCheckpoint {
  readonly number: number;
  readonly size: number;
  /** RFC 3339, milliseconds, UTC. */
  readonly at: string;
  /** The full hour that it closes, where it closes one. */
  readonly hour: string | null;
  readonly note: string;
}

/** A policy version that was in force from some time on. */
export interface LogPolicy {
  readonly sha256: string;
  readonly name: string;
  readonly version: string;
  readonly at: string;
}

/**
 * The log of one zone, as whoever may read all of it sees it. Lists come in the order of the log, at most `limit`
 * long, and are empty at its end only.
 */
export interface LogSource {
  readonly log: string;
  readonly jurisdiction: Zone;
  /** How many witnesses a checkpoint should be cosigned by; 0 where there are none. */
  readonly witnessQuorum: number;
  /** The longest that a call may be without an end on record, in ms. */
  readonly longestCallMs: number;
  /** Hashes of the tree of what is published. */
  readonly hashes: TileHashes;
  /** The last checkpoint signed at a time or before it. */
  checkpointBefore(at: string): Promise<LogCheckpoint | undefined>;
  /** Those that follow a number; -1 starts at the first. */
  checkpoints(after: number): Promise<readonly LogCheckpoint[]>;
  /** Has a checkpoint signed over all that is recorded now. */
  checkpointNow(): Promise<LogCheckpoint>;
  /** What follows the place `after`; -1 starts at the first. */
  entries(after: number, limit: number): Promise<readonly LogEntry[]>;
  /** Receipts of the records at the `limit` places that follow `after`. */
  receipts(after: number, limit: number): Promise<readonly ReceiptLine[]>;
  /** Every policy version that was ever in force. */
  policies(): Promise<readonly LogPolicy[]>;
  /** The bytes of one of them; undefined where it is not kept. */
  policyStream(sha256: string): Promise<Uint8Array | undefined>;
  /** Countries of regions that no catalogue lists, by the operator's word. */
  declaredRegions(): Promise<readonly { readonly region: string; readonly country: string }[]>;
  /** Lets some time pass before it is asked again. */
  rest(): Promise<void>;
}
