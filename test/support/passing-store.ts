import type { PolicyRow } from '../../origin/store/policy-table.ts';
import type { HoldRow } from '../../origin/store/retention-table.ts';
import type { CircuitRow, SequencedRow, Store, StoredRow } from '../../origin/store/store.ts';
import type { CheckpointRow, TileRoot } from '../../origin/store/tree-table.ts';

/** The calls that change what a store holds. */
export type Write = 'append' | 'saveCircuits' | 'publish' | 'cosign' | 'keepPolicies' | 'prune' | 'saveHold';

/** A store that hands each call on to another one. What stands around a store overrides what it does to calls. */
export class PassingStore implements Store {
  protected readonly inner: Store;

  constructor(inner: Store) {
    this.inner = inner;
  }

  protected read<T>(reading: () => Promise<T>): Promise<T> {
    return reading();
  }

  protected write(_name: Write, writing: () => Promise<void>): Promise<void> {
    return writing();
  }

  append(rows: readonly StoredRow[]): Promise<void> {
    return this.write('append', () => this.inner.append(rows));
  }

  size(): Promise<number> {
    return this.read(() => this.inner.size());
  }

  openPendings(limit: number): Promise<readonly SequencedRow[]> {
    return this.read(() => this.inner.openPendings(limit));
  }

  ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    return this.read(() => this.inner.ofRequest(requestId, tenant, limit));
  }

  after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.read(() => this.inner.after(seq, limit));
  }

  latest(limit: number): Promise<readonly SequencedRow[]> {
    return this.read(() => this.inner.latest(limit));
  }

  byId(id: string): Promise<SequencedRow | undefined> {
    return this.read(() => this.inner.byId(id));
  }

  lastMismatches(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.read(() => this.inner.lastMismatches(seq, limit));
  }

  controlsOf(endpoint: string, seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.read(() => this.inner.controlsOf(endpoint, seq, limit));
  }

  circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    return this.read(() => this.inner.circuits(after, limit));
  }

  saveCircuits(rows: readonly CircuitRow[]): Promise<void> {
    return this.write('saveCircuits', () => this.inner.saveCircuits(rows));
  }

  hashes(level: number, first: number, limit: number): Promise<readonly Uint8Array[]> {
    return this.read(() => this.inner.hashes(level, first, limit));
  }

  publish(checkpoint: Omit<CheckpointRow, 'number'>, roots: readonly TileRoot[]): Promise<void> {
    return this.write('publish', () => this.inner.publish(checkpoint, roots));
  }

  cosign(number: number, lines: readonly string[]): Promise<void> {
    return this.write('cosign', () => this.inner.cosign(number, lines));
  }

  latestCheckpoint(): Promise<CheckpointRow | undefined> {
    return this.read(() => this.inner.latestCheckpoint());
  }

  checkpoints(afterNumber: number, limit: number): Promise<readonly CheckpointRow[]> {
    return this.read(() => this.inner.checkpoints(afterNumber, limit));
  }

  checkpointBefore(at: string): Promise<CheckpointRow | undefined> {
    return this.read(() => this.inner.checkpointBefore(at));
  }

  checkpointFrom(at: string): Promise<CheckpointRow | undefined> {
    return this.read(() => this.inner.checkpointFrom(at));
  }

  checkpointOver(seq: number): Promise<CheckpointRow | undefined> {
    return this.read(() => this.inner.checkpointOver(seq));
  }

  keepPolicies(rows: readonly PolicyRow[]): Promise<void> {
    return this.write('keepPolicies', () => this.inner.keepPolicies(rows));
  }

  policyOf(sha256: string): Promise<PolicyRow | undefined> {
    return this.read(() => this.inner.policyOf(sha256));
  }

  policies(after: string, limit: number): Promise<readonly PolicyRow[]> {
    return this.read(() => this.inner.policies(after, limit));
  }

  prune(control: StoredRow, seqs: readonly number[]): Promise<void> {
    return this.write('prune', () => this.inner.prune(control, seqs));
  }

  saveHold(control: StoredRow, hold: HoldRow): Promise<void> {
    return this.write('saveHold', () => this.inner.saveHold(control, hold));
  }

  holds(): Promise<readonly HoldRow[]> {
    return this.read(() => this.inner.holds());
  }

  ready(): Promise<void> {
    return this.inner.ready();
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
