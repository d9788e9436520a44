import { generateKeyPairSync } from 'node:crypto';
import pino from 'pino';
import { Published } from '../../../origin/audit/published.ts';
import { createPublisher, type Publisher } from '../../../origin/audit/publisher.ts';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { ownKeys } from '../../../origin/audit/signed-tree.ts';
import type { Witness } from '../../../origin/audit/witness-client.ts';
import { type Clock, systemClock } from '../../../origin/clock.ts';
import type { Store, StoredRow } from '../../../origin/store/store.ts';
import type { CheckpointRow } from '../../../origin/store/tree-table.ts';
import { Frontier } from '../../../shared/merkle/frontier.ts';
import { leafHash } from '../../../shared/merkle/hash.ts';
import { openCheckpoint } from '../../../shared/open-checkpoint.ts';
import { someRows } from '../../support/audit-records.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryHead } from '../../support/memory-head.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { memoryTables } from '../../support/memory-tables.ts';

export const LOG = 'log.example/eu';

/** Half past nine in the evening before a leap day. */
export const START = Date.UTC(2028, 1, 28, 21, 30);

export const signer = { name: LOG, privateKey: generateKeyPairSync('ed25519').privateKey };

export interface PublisherOptions {
  readonly witnesses?: readonly Witness[];
  readonly quorum?: number;
  readonly store?: Store;
  readonly clock?: Clock;
  readonly privateKey?: typeof signer.privateKey;
  readonly name?: string;
}

const newId = createRecordIds(systemClock);
const [pattern] = someRows(1);

/** Rows that differ in what the tree sees of them: there can be many, as they are not encoded one by one. */
const rowsLike = (count: number): StoredRow[] =>
  Array.from({ length: count }, () => {
    const id = newId();
    return { ...required(pattern), id, leaf: leafHash(id) };
  });

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('there is no row');
  return value;
}

/** A publisher on a store and a file that fail to order, under a clock that moves to order. */
export class PublisherFixture {
  readonly clock: ManualClock;
  /** What outlives the process. */
  readonly tables = memoryTables();
  readonly head = new MemoryHead();
  readonly log = new MemoryStore(this.tables);
  readonly store = new FaultyStore(this.log);
  /** Lines for the operator. */
  readonly said: string[] = [];
  publisher: Publisher;
  #processes = 0;

  constructor(start = START) {
    this.clock = new ManualClock(start);
    this.publisher = this.open();
  }

  open(options: PublisherOptions = {}): Publisher {
    const { witnesses = [], quorum = witnesses.length, store = this.store } = options;
    const clock = options.clock ?? this.#clockOfOne();
    const by = { name: options.name ?? LOG, privateKey: options.privateKey ?? signer.privateKey };
    const logger = pino({}, { write: (line: string) => this.said.push(line) });
    const rule = { log: ownKeys(by), witnesses: witnesses.map(({ key }) => key), quorum };
    const parts = { store, clock, logger };
    const published = new Published({ ...parts, witnesses, rule });
    return createPublisher({ ...parts, head: this.head, signer: by, published });
  }

  /** Another process over the same disk. */
  async restart(options: PublisherOptions = {}): Promise<Publisher> {
    this.publisher = this.open(options);
    await this.publisher.start();
    return this.publisher;
  }

  append(count: number): Promise<void> {
    return this.log.append(rowsLike(count));
  }

  /** Lets time pass in steps, and what each sets off happen. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(left, stepMs));
      for (let turn = 0; turn < 3; turn += 1) await settled();
    }
  }

  /** Of every checkpoint of the table size, time and the hour that it closes. */
  shown(): readonly (readonly [size: number, at: string, hour: string | undefined])[] {
    return this.tables.checkpoints.map(({ size, at, hour }) => [size, at, hour]);
  }

  /**
   * Faults of what was ever signed: a note that is no checkpoint of this log, one that is not over the beginning
   * of the log, one of those that lasted whose time lies before that of the one before; and of the table, that
   * shows each of its own.
   */
  faults(): string[] {
    const roots = [Buffer.from(Frontier.empty().root()).toString('hex')];
    const edge = Frontier.empty();
    for (const { leaf } of this.tables.rows) {
      edge.append(leaf);
      roots.push(Buffer.from(edge.root()).toString('hex'));
    }
    const faults: string[] = [];
    let last = 0;
    for (const note of this.head.signed) {
      const opened = openCheckpoint(note, { log: ownKeys(signer), witnesses: [] });
      if (!opened.ok) {
        faults.push(opened.error.reason);
        continue;
      }
      const { checkpoint, at } = opened.value;
      if (roots[checkpoint.size] !== Buffer.from(checkpoint.root).toString('hex'))
        faults.push(`a checkpoint over ${checkpoint.size} records is over others`);
      if (!this.head.kept.includes(note)) continue;
      if (at < last) faults.push('an attested time lies before the one before');
      last = at;
    }
    return [...faults, ...this.tables.checkpoints.flatMap((row) => this.#faultsOf(row))];
  }

  /** The timers of a process end with it. */
  #clockOfOne(): Clock {
    this.#processes += 1;
    const [{ clock }, process] = [this, this.#processes];
    return {
      now: () => clock.now(),
      monotonic: () => clock.monotonic(),
      setTimeout: (fn, ms) => clock.setTimeout(() => this.#processes === process && fn(), ms),
    };
  }

  #faultsOf({ note, size, at, root }: CheckpointRow): string[] {
    const opened = openCheckpoint(note, { log: ownKeys(signer), witnesses: [] });
    if (!opened.ok) return [opened.error.reason];
    const { checkpoint, at: attested } = opened.value;
    const same = checkpoint.size === size && Buffer.compare(checkpoint.root, root) === 0;
    return same && attested === Date.parse(at) ? [] : ['a row does not say what its note says'];
  }
}

/** Lets so much time pass that a checkpoint can have been made. */
export async function shortly<T>(t: PublisherFixture, outcome: Promise<T>): Promise<T> {
  outcome.catch(() => undefined);
  await t.pass(2_000);
  return await outcome;
}
