import type { LogInspector, PruningRow } from './log-inspector.ts';
import type { PolicyRow } from './policy-table.ts';
import type { HoldRow } from './retention-table.ts';
import type { ReadRequest } from './sqlite-messages.ts';
import * as rowOf from './sqlite-row.ts';
import type { SqliteThread } from './sqlite-thread.ts';
import { split } from './sqlite-tree.ts';
import type { CircuitRow, SequencedRow } from './store.ts';
import type { CheckpointRow } from './tree-table.ts';

/** Longest wait for an answer to a read, in milliseconds: above the wait for a lock, as SQLite may wait first. */
export const ANSWER_MS = 5_000;

/** The reads of a store, answered by a thread with a connection that only reads. */
export class SqliteReader implements LogInspector {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  async size(): Promise<number> {
    return (await this.#first({ op: 'size' }, rowOf.sizeOf)) ?? 0;
  }

  openPendings(limit: number): Promise<readonly SequencedRow[]> {
    return this.#all({ op: 'openPendings', limit }, rowOf.sequencedRow);
  }

  ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    return this.#all({ op: 'ofRequest', requestId, tenant, limit }, rowOf.sequencedRow);
  }

  after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.#all({ op: 'after', seq, limit }, rowOf.sequencedRow);
  }

  latest(limit: number): Promise<readonly SequencedRow[]> {
    return this.#all({ op: 'latest', limit }, rowOf.sequencedRow);
  }

  byId(id: string): Promise<SequencedRow | undefined> {
    return this.#first({ op: 'byId', id }, rowOf.sequencedRow);
  }

  lastMismatches(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.#all({ op: 'lastMismatches', seq, limit }, rowOf.sequencedRow);
  }

  controlsOf(endpoint: string, seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.#all({ op: 'controlsOf', endpoint, seq, limit }, rowOf.sequencedRow);
  }

  circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    return this.#all({ op: 'circuits', after, limit }, rowOf.circuitRow);
  }

  async hashes(level: number, first: number, limit: number): Promise<readonly Uint8Array[]> {
    const joined = await this.#first({ op: 'hashes', level, first, limit }, rowOf.joinedOf);
    return joined === undefined ? [] : split(joined);
  }

  latestCheckpoint(): Promise<CheckpointRow | undefined> {
    return this.#first({ op: 'latestCheckpoint' }, rowOf.checkpointRow);
  }

  checkpoints(afterNumber: number, limit: number): Promise<readonly CheckpointRow[]> {
    return this.#all({ op: 'checkpoints', after: afterNumber, limit }, rowOf.checkpointRow);
  }

  checkpointBefore(at: string): Promise<CheckpointRow | undefined> {
    return this.#first({ op: 'checkpointBefore', at }, rowOf.checkpointRow);
  }

  checkpointFrom(at: string): Promise<CheckpointRow | undefined> {
    return this.#first({ op: 'checkpointFrom', at }, rowOf.checkpointRow);
  }

  checkpointOver(seq: number): Promise<CheckpointRow | undefined> {
    return this.#first({ op: 'checkpointOver', seq }, rowOf.checkpointRow);
  }

  policyOf(sha256: string): Promise<PolicyRow | undefined> {
    return this.#first({ op: 'policyOf', sha256 }, rowOf.policyRow);
  }

  policies(after: string, limit: number): Promise<readonly PolicyRow[]> {
    return this.#all({ op: 'policies', after, limit }, rowOf.policyRow);
  }

  holds(): Promise<readonly HoldRow[]> {
    return this.#all({ op: 'holds' }, rowOf.holdRow);
  }

  prunings(place: number, limit: number): Promise<readonly PruningRow[]> {
    return this.#all({ op: 'prunings', place, limit }, rowOf.pruningRow);
  }

  async damage(): Promise<readonly string[]> {
    return (await this.#thread.call({ op: 'damage' })).map(rowOf.findingOf);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #all<T>(request: ReadRequest, row: (columns: object) => T): Promise<readonly T[]> {
    return (await this.#thread.call(request, ANSWER_MS)).map(row);
  }

  async #first<T>(request: ReadRequest, row: (columns: object) => T): Promise<T | undefined> {
    const [first] = await this.#all(request, row);
    return first;
  }
}
