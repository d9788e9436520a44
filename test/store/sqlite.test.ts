import { readFile, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HOLDS_MAX } from '../../origin/store/retention-table.ts';
import { openSqliteReader } from '../../origin/store/sqlite.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import { storeBehaviour } from './behaviour.ts';
import { aHold } from './behaviour-retention.ts';
import { aCheckpoint } from './behaviour-tree.ts';
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

  it('leaves nothing of a pruned body in its files once it is closed', async () => {
    const marked = (index: number) =>
      aRow('refused', { tenant: `t-${index}`, workload: `marker-${index} `.repeat(20) });
    const store = await log.open();
    await store.append(Array.from({ length: 200 }, (_, index) => marked(index)));
    await store.prune(
      aRow('control'),
      Array.from({ length: 199 }, (_, index) => index),
    );
    await store.close();
    const found = (await readFile(log.path, 'latin1')).match(/marker-\d+|"tenant":"t-\d+"/g) ?? [];
    expect([...new Set(found)]).toEqual(['"tenant":"t-199"', 'marker-199']);
  });

  it('places no more holds than it can weigh for each row', async () => {
    const store = await log.open();
    log.intrude().exec(`INSERT INTO holds (id, by, why, at)
      WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < ${HOLDS_MAX})
      SELECT 'h-' || i, 'a.person', 'why', 'at' FROM n`);
    await store.saveHold(aRow('control'), aHold('last'));
    await expect(store.saveHold(aRow('control'), aHold('more'))).rejects.toMatchObject({ kind: 'rejected' });
    expect([await store.size(), (await store.holds()).length]).toEqual([1, HOLDS_MAX]);
  });

  it('answers reads of the tree to another program while an origin writes it', async () => {
    const store = await log.open();
    const reader = await openSqliteReader({ path: log.path, zone: 'eu' });
    await store.append(someRows(2));
    await store.publish(aCheckpoint(2), []);
    expect(await reader.hashes(0, 0, 10)).toHaveLength(2);
    expect((await reader.latestCheckpoint())?.size).toBe(2);
    await reader.close();
  });
});
