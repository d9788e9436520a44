import { decodeRecord } from '../../origin/audit/encode.ts';
import type { PolicyRow } from '../../origin/store/policy-table.ts';
import type { HoldRow } from '../../origin/store/retention-table.ts';
import {
  type CircuitRow,
  READ_MAX,
  type SequencedRow,
  type Store,
  type StoredRow,
  StoreError,
} from '../../origin/store/store.ts';
import type { CheckpointRow, TileRoot } from '../../origin/store/tree-table.ts';
import { append, openPendings } from './memory-log.ts';
import { prune, saveHold } from './memory-retention.ts';
import { type MemoryTables, memoryTables } from './memory-tables.ts';
import { byTime, cosign, hashesOf, publish } from './memory-tree.ts';

/** A store without a disk. It passes the behaviour suite of stores; what lasts is what it is given. */
export class MemoryStore implements Store {
  readonly #kept: MemoryTables;
  #closed = false;

  constructor(tables: MemoryTables = memoryTables()) {
    this.#kept = tables;
  }

  get rows(): readonly SequencedRow[] {
    return this.#kept.rows;
  }

  async append(rows: readonly StoredRow[]): Promise<void> {
    append(this.#tables(), rows);
  }

  async size(): Promise<number> {
    return this.#tables().rows.length;
  }

  async openPendings(limit: number): Promise<readonly SequencedRow[]> {
    return first(openPendings(this.#tables()), limit);
  }

  async ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    const { rows } = this.#tables();
    return last(
      rows.filter((row) => row.requestId === requestId && row.tenant === tenant),
      limit,
    );
  }

  async after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return first(this.#tables().rows.slice(seq + 1), limit);
  }

  async latest(limit: number): Promise<readonly SequencedRow[]> {
    return last(this.#tables().rows, limit);
  }

  async byId(id: string): Promise<SequencedRow | undefined> {
    return this.#tables().rows.find((row) => row.id === id);
  }

  async lastMismatches(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    const newest = new Map<string | undefined, SequencedRow>();
    for (const row of this.#tables().rows) {
      if (row.kind !== 'violation' || row.canonical === undefined) continue;
      const { endpoint, region_verdict } = decodeRecord(row);
      if (region_verdict === 'mismatch') newest.set(endpoint, row);
    }
    const found = [...newest.values()].filter((row) => row.seq > seq);
    return first(
      found.toSorted((one, other) => one.seq - other.seq),
      limit,
    );
  }

  async controlsOf(endpoint: string, seq: number, limit: number): Promise<readonly SequencedRow[]> {
    const controls = this.#tables().rows.filter((row) => row.kind === 'control' && row.seq > seq);
    const whole = controls.filter(({ canonical }) => canonical !== undefined);
    return first(
      whole.filter((row) => decodeRecord(row).endpoint === endpoint),
      limit,
    );
  }

  async circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    return following(this.#tables().circuits, after, limit);
  }

  async saveCircuits(rows: readonly CircuitRow[]): Promise<void> {
    const { circuits } = this.#tables();
    for (const row of rows) circuits.set(row.endpoint, row);
  }

  async hashes(level: number, place: number, limit: number): Promise<readonly Uint8Array[]> {
    return first(hashesOf(this.#tables(), level).slice(place), limit);
  }

  async publish(checkpoint: Omit<CheckpointRow, 'number'>, roots: readonly TileRoot[]): Promise<void> {
    publish(this.#tables(), checkpoint, roots);
  }

  async cosign(number: number, lines: readonly string[]): Promise<void> {
    cosign(this.#tables(), number, lines);
  }

  async latestCheckpoint(): Promise<CheckpointRow | undefined> {
    return this.#tables().checkpoints.at(-1);
  }

  async checkpoints(afterNumber: number, limit: number): Promise<readonly CheckpointRow[]> {
    return first(this.#tables().checkpoints.slice(afterNumber + 1), limit);
  }

  async checkpointBefore(at: string): Promise<CheckpointRow | undefined> {
    return byTime(this.#tables()).findLast((checkpoint) => checkpoint.at <= at);
  }

  async checkpointFrom(at: string): Promise<CheckpointRow | undefined> {
    return byTime(this.#tables()).find((checkpoint) => checkpoint.at >= at);
  }

  async checkpointOver(seq: number): Promise<CheckpointRow | undefined> {
    return this.#tables().checkpoints.find(({ size }) => size > seq);
  }

  async keepPolicies(rows: readonly PolicyRow[]): Promise<void> {
    const { policies } = this.#tables();
    for (const row of rows) if (!policies.has(row.sha256)) policies.set(row.sha256, row);
  }

  async policyOf(sha256: string): Promise<PolicyRow | undefined> {
    return this.#tables().policies.get(sha256);
  }

  async policies(after: string, limit: number): Promise<readonly PolicyRow[]> {
    return following(this.#tables().policies, after, limit);
  }

  async prune(control: StoredRow, seqs: readonly number[]): Promise<void> {
    prune(this.#tables(), control, seqs);
  }

  async saveHold(control: StoredRow, hold: HoldRow): Promise<void> {
    saveHold(this.#tables(), control, hold);
  }

  async holds(): Promise<readonly HoldRow[]> {
    return [...this.#tables().holds.values()];
  }

  async ready(): Promise<void> {
    this.#tables();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #tables(): MemoryTables {
    if (this.#closed) throw new StoreError('closed', 'the store is closed');
    return this.#kept;
  }
}

const clamp = (limit: number): number => Math.min(Math.max(limit, 0), READ_MAX);

const first = <T>(rows: readonly T[], limit: number): readonly T[] => rows.slice(0, clamp(limit));

const last = <T>(rows: readonly T[], limit: number): readonly T[] =>
  clamp(limit) === 0 ? [] : rows.slice(-clamp(limit));

/** The rows that follow a key, in the order of the keys. */
const following = <T>(rows: ReadonlyMap<string, T>, after: string, limit: number): readonly T[] => {
  const keys = [...rows].filter(([key]) => key > after);
  return first(
    keys.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, row]) => row),
    limit,
  );
};
