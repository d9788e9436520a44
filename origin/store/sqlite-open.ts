import { chmodSync, closeSync, mkdirSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { storeErrorOf } from './sqlite-fault.ts';
import type { ThreadSetup } from './sqlite-messages.ts';
import { claimFile, identify, migrate } from './sqlite-schema.ts';
import { StoreError } from './store.ts';

/** The write-ahead log is cut back to this many bytes after a checkpoint, so that a burst does not keep its disk. */
const WAL_BYTES_KEPT = 64 * 1024 * 1024;

export interface OpenDatabase {
  readonly db: DatabaseSync;
  close(): void;
}

/** Opens the log for writing, alone, and makes or migrates it where need be. Throws StoreError. */
export function openForWriting(setup: ThreadSetup): OpenDatabase {
  prepareFile(setup);
  const lock = holdLock(setup);
  try {
    const db = new DatabaseSync(setup.path, { timeout: setup.busyMs });
    claimFile(db, setup.path);
    setDurable(db, setup);
    migrate(db, setup);
    identify(db, setup);
    return {
      db,
      close: () => {
        db.close();
        lock.close();
      },
    };
  } catch (error) {
    lock.close();
    throw openingError(error, setup.path);
  }
}

/** Opens an existing log for reading, beside whoever writes it. Throws StoreError. */
export function openForReading(setup: ThreadSetup): OpenDatabase {
  if (sizeOf(setup.path) === undefined) throw new StoreError('unfit', `there is no log at ${setup.path}`);
  try {
    const db = new DatabaseSync(setup.path, { timeout: setup.busyMs, readOnly: true });
    identify(db, setup);
    return { db, close: () => db.close() };
  } catch (error) {
    throw openingError(error, setup.path);
  }
}

function openingError(error: unknown, path: string): StoreError {
  const fault = storeErrorOf(error);
  if (error instanceof StoreError) return fault;
  const hint = fault.kind === 'unfit' ? ' Name another file as `store`, or move this one away.' : '';
  return new StoreError(fault.kind, `${path} cannot be opened: ${fault.message}.${hint}`);
}

function sizeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.size;
}

function prepareFile({ path, create }: ThreadSetup): void {
  const size = sizeOf(path);
  if (size === undefined && !create) {
    throw new StoreError(
      'unfit',
      `${path} has been removed while in use. Restore it, then restart the origin.`,
    );
  }
  // SQLite would silently delete the write-ahead log of a database that has gone, and with it durable records.
  if (!size && sizeOf(`${path}-wal`)) {
    throw new StoreError(
      'unfit',
      `${path}-wal holds records, but their database ${path} is gone. Restore ${path} beside it, or move ${path}-wal away to begin a new log.`,
    );
  }
  if (size === undefined) makePrivateFile(path);
}

/** SQLite gives its other files the mode of the database, so that is set before it writes anything. */
function makePrivateFile(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    closeSync(openSync(path, 'a', 0o600));
    chmodSync(path, 0o600);
  } catch (error) {
    const why = error instanceof Error ? error.message : 'unknown fault';
    throw new StoreError('unfit', `the store ${path} cannot be created: ${why}`);
  }
}

/**
 * A second writer would take the first one's running calls for ones that a crash left open. The lock is the
 * operating system's, held through an empty SQLite file, so that it ends with the process however that ends.
 */
function holdLock({ path, busyMs }: ThreadSetup): DatabaseSync {
  const file = `${path}.lock`;
  if (sizeOf(file) === undefined) makePrivateFile(file);
  const lock = new DatabaseSync(file, { timeout: busyMs });
  try {
    lock.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (storeErrorOf(error).kind !== 'busy') throw openingError(error, file);
    throw new StoreError(
      'unfit',
      `${path} is in use by another origin. Stop that one first; several origins of a zone share a PostgreSQL store.`,
    );
  }
}

/** What is pruned is overwritten, not just set free (`secure_delete`). */
function setDurable(db: DatabaseSync, { path, maxPages }: ThreadSetup): void {
  db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;
    PRAGMA secure_delete = ON;
    PRAGMA journal_size_limit = ${WAL_BYTES_KEPT}`);
  const mode = db.prepare('PRAGMA journal_mode').get()?.journal_mode;
  const synchronous = db.prepare('PRAGMA synchronous').get()?.synchronous;
  if (mode !== 'wal' || synchronous !== 2) {
    throw new StoreError(
      'unfit',
      `${path} lies on a file system without write-ahead logging. Use a local disk.`,
    );
  }
  if (maxPages !== undefined) db.exec(`PRAGMA max_page_count = ${Math.trunc(maxPages)}`);
}
