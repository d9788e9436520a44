import type { Zone } from '../../shared/zones.ts';
import type { PolicyRow } from './policy-table.ts';
import type { HoldRow } from './retention-table.ts';
import type { CircuitRow, StoredRow, StoreFault } from './store.ts';
import type { CheckpointRow, TileRoot } from './tree-table.ts';

export type WriteRequest =
  | { readonly op: 'append'; readonly rows: readonly StoredRow[] }
  | { readonly op: 'saveCircuits'; readonly rows: readonly CircuitRow[] }
  | {
      readonly op: 'publish';
      readonly checkpoint: Omit<CheckpointRow, 'number'>;
      readonly roots: readonly TileRoot[];
    }
  | { readonly op: 'cosign'; readonly number: number; readonly lines: readonly string[] }
  | { readonly op: 'keepPolicies'; readonly rows: readonly PolicyRow[] }
  | { readonly op: 'prune'; readonly control: StoredRow; readonly seqs: readonly number[] }
  | { readonly op: 'saveHold'; readonly control: StoredRow; readonly hold: HoldRow }
  | { readonly op: 'probe' };

export type ReadRequest =
  | { readonly op: 'size' }
  | { readonly op: 'openPendings'; readonly limit: number }
  | { readonly op: 'ofRequest'; readonly requestId: string; readonly tenant: string; readonly limit: number }
  | { readonly op: 'after'; readonly seq: number; readonly limit: number }
  | { readonly op: 'latest'; readonly limit: number }
  | { readonly op: 'byId'; readonly id: string }
  | { readonly op: 'lastMismatches'; readonly seq: number; readonly limit: number }
  | { readonly op: 'controlsOf'; readonly endpoint: string; readonly seq: number; readonly limit: number }
  | { readonly op: 'circuits'; readonly after: string; readonly limit: number }
  | { readonly op: 'hashes'; readonly level: number; readonly first: number; readonly limit: number }
  | { readonly op: 'latestCheckpoint' }
  | { readonly op: 'checkpoints'; readonly after: number; readonly limit: number }
  | { readonly op: 'checkpointBefore'; readonly at: string }
  | { readonly op: 'checkpointFrom'; readonly at: string }
  | { readonly op: 'checkpointOver'; readonly seq: number }
  | { readonly op: 'policyOf'; readonly sha256: string }
  | { readonly op: 'policies'; readonly after: string; readonly limit: number }
  | { readonly op: 'holds' }
  | { readonly op: 'prunings'; readonly place: number; readonly limit: number }
  | { readonly op: 'damage' };

export type SqliteRequest = WriteRequest | ReadRequest | { readonly op: 'close' };

/** To the thread: one request under a number of its own. */
export interface Call {
  readonly call: number;
  readonly request: SqliteRequest;
}

/** Number of the answer that a thread gives, unasked, about opening the database. */
export const OPENING = 0;

/** From the thread: the answer to the call of that number. Rows are as the database gave them; writes answer with none. */
export type Reply =
  | { readonly call: number; readonly ok: true; readonly rows: readonly object[] }
  | { readonly call: number; readonly ok: false; readonly kind: StoreFault; readonly message: string };

/** What a thread is started with. */
export interface ThreadSetup {
  readonly role: 'writer' | 'reader';
  readonly path: string;
  readonly zone: Zone;
  /** Whether a log may be begun where there is none. */
  readonly create: boolean;
  /** How long to wait for another process that holds the database, in milliseconds. */
  readonly busyMs: number;
  /** Most pages (4,096 bytes each) the database may have; undefined for no bound of our own. */
  readonly maxPages: number | undefined;
}
