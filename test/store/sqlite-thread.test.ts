import { rename } from 'node:fs/promises';
import type { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RESTART_PAUSE_MS } from '../../origin/store/sqlite-thread.ts';
import type { Store } from '../../origin/store/store.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { TempLog } from './temp-log.ts';

describe('a database thread that dies', () => {
  const clock = new ManualClock();
  let log: TempLog;
  let store: Store;
  let threads: Worker[];
  const collect = (worker: Worker): void => void threads.push(worker);

  beforeEach(async () => {
    threads = [];
    process.on('worker', collect);
    log = await TempLog.make();
    store = await log.open({ clock });
  });

  afterEach(async () => {
    process.off('worker', collect);
    await log[Symbol.asyncDispose]();
  });

  const killAll = () => Promise.all(threads.map((thread) => thread.terminate()));

  it('fails the calls that wait for it, keeps what was durable, and is started again after a pause', async () => {
    const [kept, dying, later] = [aRow('pending'), aRow('pending'), aRow('pending')];
    await store.append([kept]);
    log.intrude().exec('BEGIN IMMEDIATE');
    const append = store.append([dying]);
    const ended = killAll();
    await expect(append).rejects.toMatchObject({ kind: 'failed' });
    await ended;
    await expect(store.append([later])).rejects.toMatchObject({ kind: 'failed' });
    await expect(store.latest(1)).rejects.toMatchObject({
      kind: 'failed',
      message: 'the database thread ended',
    });
    log.intrude().close();
    clock.advance(RESTART_PAUSE_MS);
    expect(await store.byId(dying.id)).toBeUndefined();
  });

  it('goes on writing after it was started again, with no gap in the log', async () => {
    await store.append(someRows(2));
    await killAll();
    clock.advance(RESTART_PAUSE_MS);
    await store.append(someRows(2));
    expect((await store.after(-1, 10)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
  });

  it('begins no new log where the old one was taken away meanwhile', async () => {
    await store.append(someRows(2));
    await killAll();
    await rename(log.path, `${log.folder}/away.db`);
    clock.advance(RESTART_PAUSE_MS);
    await expect(store.append(someRows(1))).rejects.toMatchObject({
      kind: 'failed',
      message: expect.stringMatching(/has been removed while in use\. Restore it/),
    });
  });

  it('is closed like any other', async () => {
    await killAll();
    await store.close();
    await expect(store.append(someRows(1))).rejects.toMatchObject({ kind: 'closed' });
  });
});
