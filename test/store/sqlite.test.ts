import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openSqliteReader } from '../../origin/store/sqlite.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import { storeBehaviour } from './behaviour.ts';
import { TempLog } from './temp-log.ts';

storeBehaviour('sqlite', async () => {
  const log = await TempLog.make();
  return { open: () => log.open(), destroy: () => log[Symbol.asyncDispose]() };
});

describe('sqlite', () => {
  let log: TempLog;

  beforeEach(async () => {
    log = await TempLog.make();
  });

  afterEach(() => log[Symbol.asyncDispose]());

  it.each([
    ['a changed record', `UPDATE records SET tenant = 'other' WHERE seq = 0`],
    ['a removed record', 'DELETE FROM records WHERE seq = 1'],
    ['an emptied log', 'DELETE FROM records'],
    [
      'a record replaced in its place',
      `REPLACE INTO records SELECT 0, 'new', kind, at, NULL, NULL, NULL, canonical, leaf FROM records WHERE seq = 1`,
    ],
    [
      'a record replaced by its id',
      `REPLACE INTO records SELECT 2, id, kind, at, NULL, NULL, NULL, 'forged', leaf FROM records WHERE seq = 0`,
    ],
    [
      'an update dressed as an insert',
      `INSERT INTO records SELECT * FROM records WHERE true ON CONFLICT DO UPDATE SET tenant = 'x'`,
    ],
    [
      'a place left out',
      `INSERT INTO records SELECT 7, 'new', kind, at, NULL, NULL, NULL, canonical, leaf FROM records WHERE seq = 0`,
    ],
    [
      'a place before the first',
      `INSERT INTO records SELECT -1, 'new', kind, at, NULL, NULL, NULL, canonical, leaf FROM records WHERE seq = 0`,
    ],
    [
      'a record without a leaf',
      `INSERT INTO records SELECT 2, 'new', kind, at, NULL, NULL, NULL, canonical, x'00' FROM records WHERE seq = 0`,
    ],
    ['another zone', `UPDATE identity SET zone = 'us'`],
    ['a second zone', `REPLACE INTO identity VALUES (1, 'us')`],
    ['no zone', 'DELETE FROM identity'],
  ])('refuses %s even from somebody who opens the file directly', async (_, sql) => {
    const store = await log.open();
    await store.append(someRows(2));
    const before = await store.after(-1, 10);
    const intruder = log.intrude();
    expect(() => intruder.exec(sql)).toThrow(/append-only|next place|already|never|CHECK|one identity/);
    expect(await store.after(-1, 10)).toEqual(before);
    expect(intruder.prepare('SELECT zone FROM identity').all()).toEqual([{ zone: 'eu' }]);
  });

  it('makes its folder and files for its own user alone', async () => {
    const store = await log.open();
    await store.append(someRows(1));
    const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);
    expect(await modeOf(dirname(log.path))).toBe('700');
    for (const end of ['', '-wal', '-shm', '.lock']) expect(await modeOf(`${log.path}${end}`)).toBe('600');
  });

  it('answers reads while a commit waits for another process, then gives up on it within its bound', async () => {
    const store = await log.open();
    await store.append(someRows(1));
    const intruder = log.intrude();
    intruder.exec('BEGIN IMMEDIATE');
    const order: string[] = [];
    const append = store.append(someRows(1)).catch((error: unknown) => {
      order.push('append');
      throw error;
    });
    const read = store.latest(5).then((rows) => order.push(`read ${rows.length}`));
    await expect(append).rejects.toMatchObject({ kind: 'busy' });
    await read;
    expect(order).toEqual(['read 1', 'append']);
    await expect(store.ready()).rejects.toMatchObject({ kind: 'busy' });
    intruder.exec('ROLLBACK');
    await store.ready();
    await store.append(someRows(2));
    expect(await store.latest(5)).toHaveLength(3);
  });

  it('keeps nothing of a group for which the disk has no room, and goes on with what fits', async () => {
    const store = await log.open({ maxPages: 40 });
    const large = () => ({ ...aRow('refused'), canonical: 'x'.repeat(200_000) });
    const [small, next] = [aRow('refused'), aRow('refused')];
    await store.append([small]);
    await expect(store.append([aRow('refused'), large()])).rejects.toMatchObject({ kind: 'full' });
    await store.append([next]);
    expect((await store.after(-1, 10)).map(({ seq, id }) => [seq, id])).toEqual([
      [0, small.id],
      [1, next.id],
    ]);
  });

  it('is read by another program while an origin writes it', async () => {
    const store = await log.open();
    const reader = await openSqliteReader({ path: log.path, zone: 'eu' });
    await store.append(someRows(3));
    expect(await reader.latest(10)).toHaveLength(3);
    await reader.close();
  });
});
