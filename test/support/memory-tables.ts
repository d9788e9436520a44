import type { PolicyRow } from '../../origin/store/policy-table.ts';
import type { HoldRow } from '../../origin/store/retention-table.ts';
import type { CircuitRow, SequencedRow } from '../../origin/store/store.ts';
import type { CheckpointRow } from '../../origin/store/tree-table.ts';

/** What a store without a disk holds, so that it can outlive the store. */
export interface MemoryTables {
  readonly rows: SequencedRow[];
  /** Ids of the `pending` rows that have no end. */
  readonly open: Set<string>;
  readonly circuits: Map<string, CircuitRow>;
  readonly checkpoints: CheckpointRow[];
  /** Of each level the roots of its full tiles. */
  readonly tileRoots: Map<number, Uint8Array[]>;
  readonly policies: Map<string, PolicyRow>;
  readonly holds: Map<string, HoldRow>;
}

export const memoryTables = (): MemoryTables => ({
  rows: [],
  open: new Set(),
  circuits: new Map(),
  checkpoints: [],
  tileRoots: new Map(),
  policies: new Map(),
  holds: new Map(),
});
