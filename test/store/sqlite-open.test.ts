import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../origin/store/sqlite.ts';
import { someRows } from '../support/audit-records.ts';
import { TempLog } from './temp-log.ts';

/** Makes a log what a program wrote that knew of no circuits. */
const asVersionOne = (log: TempLog): void =>
  log.intrude().exec('DROP TABLE circuits; PRAGMA user_version = 1');

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

  it('brings the log of an older program up to date and loses nothing of it', async () => {
    const rows = someRows(3);
    const store = await log.open();
    await store.append(rows);
    await store.close();
    asVersionOne(log);
    const migrated = await log.open();
    expect((await migrated.after(-1, 10)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
    expect(await migrated.circuits('', 10)).toEqual([]);
  });

  it('reads the log of an older program as it is', async () => {
    const store = await log.open();
    await store.append(someRows(3));
    await store.close();
    asVersionOne(log);
    const reader = await openSqliteReader({ path: log.path, zone: 'eu' });
    expect(await reader.latest(10)).toHaveLength(3);
    await reader.close();
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
