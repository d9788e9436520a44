import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../origin/store/sqlite.ts';
import type { StoredRow } from '../../origin/store/store.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import { aCheckpoint } from './behaviour-tree.ts';
import { TempLog } from './temp-log.ts';

const MIGRATIONS = new URL('../../origin/store/migrations/sqlite/', import.meta.url);
const FILES = (await readdir(MIGRATIONS)).toSorted();

/** Makes the log that a program of an older schema version wrote. */
async function makeOld(log: TempLog, version: number, rows: readonly StoredRow[]): Promise<void> {
  await mkdir(dirname(log.path));
  const db = log.intrude();
  for (const file of FILES.slice(0, version)) db.exec(await readFile(new URL(file, MIGRATIONS), 'utf8'));
  db.exec(`INSERT INTO identity VALUES (1, 'eu'); PRAGMA journal_mode = WAL;
    PRAGMA application_id = ${0x72657367}; PRAGMA user_version = ${version}`);
  const insert = db.prepare('INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
  for (const [seq, { id, kind, at, requestId = null, tenant = null, canonical, leaf }] of rows.entries())
    insert.run(seq, id, kind, at, requestId, null, tenant, canonical, leaf);
}

describe('opening a sqlite log', () => {
  let log: TempLog;

  beforeEach(async () => {
    log = await TempLog.make();
  });

  afterEach(() => log[Symbol.asyncDispose]());

  const refused = (message: RegExp) => ({ kind: 'unfit', message: expect.stringMatching(message) });

  it('is refused to a second origin, whose recovery would end the calls of the first', async () => {
    const store = await log.open();
    await expect(log.open()).rejects.toMatchObject(refused(/in use by another origin\. Stop that one/));
    await store.append(someRows(1));
    await store.close();
    expect(await (await log.open()).latest(5)).toHaveLength(1);
  });

  it('refuses the log of another zone, to write and to read', async () => {
    await (await log.open()).close();
    await expect(log.open({ zone: 'us' })).rejects.toMatchObject(refused(/log of the zone eu.*is of us/));
    await expect(openSqliteReader({ path: log.path, zone: 'us' })).rejects.toMatchObject(refused(/zone eu/));
  });

  it('refuses a schema newer than it knows, and leaves it as it is', async () => {
    await (await log.open()).close();
    const db = log.intrude();
    db.exec('PRAGMA user_version = 99');
    await expect(log.open()).rejects.toMatchObject(
      refused(/schema version 99.*Start the version that wrote it/),
    );
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
  });

  it.each(FILES.slice(1).map((next, index) => [index + 1, next]))(
    'brings the log of a program of the schema version %i up to date, by %s, and loses nothing of it',
    async (version) => {
      const rows = [aRow('pending'), ...someRows(2), aRow('violation', { region_verdict: 'mismatch' })];
      await makeOld(log, Number(version), rows);
      const store = await log.open();
      const found = await store.after(-1, 10);
      expect(found.map(({ id, canonical }) => [id, canonical])).toEqual(
        rows.map(({ id, canonical }) => [id, canonical]),
      );
      expect(await store.openPendings(10)).toHaveLength(1);
      expect(await store.lastMismatches(-1, 10)).toHaveLength(1);
      expect(await store.circuits('', 10)).toEqual([]);
      await store.prune(aRow('control'), [1, 2]);
      await store.publish(aCheckpoint(5), []);
      expect((await store.after(-1, 10)).filter(({ canonical }) => canonical === undefined)).toHaveLength(2);
    },
  );

  it('reads the log of an older program as it is', async () => {
    await makeOld(log, 1, someRows(3));
    const reader = await openSqliteReader({ path: log.path, zone: 'eu' });
    expect(await reader.latest(10)).toHaveLength(3);
    expect(await reader.hashes(0, 0, 10)).toHaveLength(3);
    await reader.close();
    expect(log.intrude().prepare('PRAGMA user_version').get()).toEqual({ user_version: 1 });
  });

  it('refuses the database of another program, and leaves it as it is', async () => {
    await mkdir(dirname(log.path));
    const db = log.intrude();
    db.exec('CREATE TABLE customers (name TEXT)');
    await expect(log.open()).rejects.toMatchObject(refused(/another program.*move this one away/));
    expect(db.prepare('SELECT name FROM sqlite_schema').all()).toEqual([{ name: 'customers' }]);
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
  });

  it('refuses a file that is no database', async () => {
    await mkdir(dirname(log.path));
    await writeFile(log.path, 'jurisdiction: eu\n'.repeat(100));
    await expect(log.open()).rejects.toMatchObject(refused(/not a database.*move this one away/));
  });

  it('begins no new log beside the durable records of one whose database has gone', async () => {
    await mkdir(dirname(log.path));
    await writeFile(`${log.path}-wal`, 'records');
    await expect(log.open()).rejects.toMatchObject(
      refused(/Restore .*eu\.db beside it, or move .*-wal away/),
    );
  });

  it('refuses a folder that cannot be made, with the reason', async () => {
    await writeFile(dirname(log.path), '');
    await expect(log.open()).rejects.toMatchObject(refused(/cannot be created: (EEXIST|ENOTDIR)/));
  });

  it('reads no log where there is none, and makes none', async () => {
    await expect(openSqliteReader({ path: log.path, zone: 'eu' })).rejects.toMatchObject(
      refused(/no log at/),
    );
    await expect(rm(dirname(log.path))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
