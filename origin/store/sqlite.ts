import type { Zone } from '../../shared/zones.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { ReadRequest, ThreadSetup } from './sqlite-messages.ts';
import { circuitRow, sequencedRow } from './sqlite-row.ts';
import { SqliteThread } from './sqlite-thread.ts';
import type { CircuitRow, LogReader, SequencedRow, Store, StoredRow } from './store.ts';

/** How long SQLite waits for another process that holds the write lock, in milliseconds. */
const BUSY_MS = 2_000;
/** Longest wait for an answer to a read or a probe, in milliseconds: above BUSY_MS, as SQLite may wait first. */
const ANSWER_MS = 5_000;

export interface SqliteOptions {
  /** File of the database; its folder is created where need be. */
  readonly path: string;
  /** Zone whose log it is. A log of another zone is refused. */
  readonly zone: Zone;
  readonly clock?: Clock;
  readonly busyMs?: number;
  /** Most pages (4,096 bytes each) the database may have: beyond, it is `full`. No bound of our own by default. */
  readonly maxPages?: number;
}

class SqliteReader implements LogReader {
  readonly #thread: SqliteThread;

  constructor(thread: SqliteThread) {
    this.#thread = thread;
  }

  openPendings(limit: number): Promise<readonly SequencedRow[]> {
    return this.#read({ op: 'openPendings', limit });
  }

  ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    return this.#read({ op: 'ofRequest', requestId, tenant, limit });
  }

  after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.#read({ op: 'after', seq, limit });
  }

  latest(limit: number): Promise<readonly SequencedRow[]> {
    return this.#read({ op: 'latest', limit });
  }

  async byId(id: string): Promise<SequencedRow | undefined> {
    const [row] = await this.#read({ op: 'byId', id });
    return row;
  }

  async circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    return (await this.#thread.call({ op: 'circuits', after, limit }, ANSWER_MS)).map(circuitRow);
  }

  close(): Promise<void> {
    return this.#thread.close();
  }

  async #read(request: ReadRequest): Promise<readonly SequencedRow[]> {
    return (await this.#thread.call(request, ANSWER_MS)).map(sequencedRow);
  }
}

/** The writer has a thread of its own, so that neither the event loop nor a read waits for its commits. */
class SqliteStore extends SqliteReader implements Store {
  readonly #writer: SqliteThread;

  constructor(writer: SqliteThread, reader: SqliteThread) {
    super(reader);
    this.#writer = writer;
  }

  async append(rows: readonly StoredRow[]): Promise<void> {
    await this.#writer.call({ op: 'append', rows });
  }

  /** Past its bound it may yet be written; the thread takes one after the other, so no newer one is undone. */
  async saveCircuits(rows: readonly CircuitRow[]): Promise<void> {
    await this.#writer.call({ op: 'saveCircuits', rows }, ANSWER_MS);
  }

  async ready(): Promise<void> {
    await this.#writer.call({ op: 'probe' }, ANSWER_MS);
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#writer.close();
  }
}

const setupOf = (options: SqliteOptions, role: ThreadSetup['role']): ThreadSetup => ({
  role,
  path: options.path,
  zone: options.zone,
  create: role === 'writer',
  busyMs: options.busyMs ?? BUSY_MS,
  maxPages: options.maxPages,
});

async function openThread(options: SqliteOptions, role: ThreadSetup['role']): Promise<SqliteThread> {
  const thread = new SqliteThread(setupOf(options, role), options.clock ?? systemClock);
  try {
    await thread.open();
    return thread;
  } catch (error) {
    await thread.close();
    throw error;
  }
}

/** Opens, or makes, the log of a zone as its only writer. Rejects with StoreError. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const writer = await openThread(options, 'writer');
  try {
    return new SqliteStore(writer, await openThread(options, 'reader'));
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/** Opens an existing log for reading, also while an origin writes it. Rejects with StoreError. */
export async function openSqliteReader(options: SqliteOptions): Promise<LogReader> {
  return new SqliteReader(await openThread(options, 'reader'));
}
