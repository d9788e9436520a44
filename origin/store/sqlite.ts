import type { Zone } from '../../shared/zones.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { LogInspector } from './log-inspector.ts';
import type { PolicyRow } from './policy-table.ts';
import type { HoldRow } from './retention-table.ts';
import type { ThreadSetup } from './sqlite-messages.ts';
import { ANSWER_MS, SqliteReader } from './sqlite-reader.ts';
import { SqliteThread } from './sqlite-thread.ts';
import type { CircuitRow, Store, StoredRow } from './store.ts';
import type { CheckpointRow, TileRoot } from './tree-table.ts';

/** How long SQLite waits for another process that holds the write lock, in milliseconds. */
const BUSY_MS = 2_000;

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

  async publish(checkpoint: Omit<CheckpointRow, 'number'>, roots: readonly TileRoot[]): Promise<void> {
    await this.#writer.call({ op: 'publish', checkpoint, roots });
  }

  async cosign(number: number, lines: readonly string[]): Promise<void> {
    await this.#writer.call({ op: 'cosign', number, lines });
  }

  async keepPolicies(rows: readonly PolicyRow[]): Promise<void> {
    await this.#writer.call({ op: 'keepPolicies', rows });
  }

  async prune(control: StoredRow, seqs: readonly number[]): Promise<void> {
    await this.#writer.call({ op: 'prune', control, seqs });
  }

  async saveHold(control: StoredRow, hold: HoldRow): Promise<void> {
    await this.#writer.call({ op: 'saveHold', control, hold });
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
export async function openSqliteReader(options: SqliteOptions): Promise<LogInspector> {
  return new SqliteReader(await openThread(options, 'reader'));
}
