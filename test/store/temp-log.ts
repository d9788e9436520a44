import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore, type SqliteOptions } from '../../origin/store/sqlite.ts';
import type { Store } from '../../origin/store/store.ts';

/** A folder for one SQLite log, and what is opened in it; all gone at the end. */
export class TempLog implements AsyncDisposable {
  readonly folder: string;
  readonly path: string;
  readonly #stores: Store[] = [];
  readonly #intruders: DatabaseSync[] = [];

  private constructor(folder: string) {
    this.folder = folder;
    this.path = join(folder, 'data', 'eu.db');
  }

  static async make(): Promise<TempLog> {
    return new TempLog(await mkdtemp(join(tmpdir(), 'residency-store-')));
  }

  async open(options: Partial<SqliteOptions> = {}): Promise<Store> {
    const store = await openSqliteStore({ path: this.path, zone: 'eu', busyMs: 50, ...options });
    this.#stores.push(store);
    return store;
  }

  /** The file as somebody else opens it who does not care for our rules. */
  intrude(): DatabaseSync {
    const db = new DatabaseSync(this.path);
    this.#intruders.push(db);
    return db;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const db of this.#intruders) if (db.isOpen) db.close();
    for (const store of this.#stores) await store.close();
    await rm(this.folder, { recursive: true });
  }
}
