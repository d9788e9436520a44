import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Published } from '../../../origin/audit/published.ts';
import { createPublisher, type Publisher } from '../../../origin/audit/publisher.ts';
import { headFile } from '../../../origin/audit/signed-head.ts';
import { ownKeys } from '../../../origin/audit/signed-tree.ts';
import type { Store } from '../../../origin/store/store.ts';
import { TempLog } from '../../store/temp-log.ts';
import { someRows } from '../../support/audit-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { signer } from './publisher-fixture.ts';

let log: TempLog;
let store: Store;
let file: string;
let backup: string;
const clock = new ManualClock();

beforeEach(async () => {
  log = await TempLog.make();
  [file, backup] = [`${log.path}.checkpoint`, join(log.folder, 'backup.db')];
  store = await log.open();
});
afterEach(() => log[Symbol.asyncDispose]());

const newPublisher = (): Publisher => {
  const parts = { store, clock, logger: pino({ enabled: false }) };
  const rule = { log: ownKeys(signer), witnesses: [], quorum: 0 };
  const published = new Published({ ...parts, witnesses: [], rule });
  return createPublisher({ ...parts, head: headFile(file), signer, published });
};

/** A process that lives for so many records. */
async function live(records: number): Promise<void> {
  const publisher = newPublisher();
  await publisher.start();
  if (records > 0) await store.append(someRows(records));
  await publisher.close();
}

/** Stops the database, changes what lies on the disk, and opens it again. */
async function between(change: () => Promise<void>): Promise<void> {
  await store.close();
  await change();
  store = await log.open();
}

const save = () => between(() => copyFile(log.path, backup));
const restore = () => between(() => copyFile(backup, log.path));
const remove = () => between(() => rm(log.path));

const CURE = /Stop the origin and put back the newest copy of the database.*"residency audit fsck".*log_name/;

const refused = async (why: RegExp): Promise<void> => {
  const publisher = newPublisher();
  await expect(publisher.start()).rejects.toThrow(why);
  await expect(publisher.start()).rejects.toThrow(CURE);
  await publisher.close();
};

describe('a database that was put back to an older copy is not signed on', () => {
  it('while it is shorter than what was signed, nor once other records have made it longer', async () => {
    await live(3);
    await save();
    await live(2);
    await restore();
    await refused(/the log has 3 records, and a checkpoint over 5 has been signed/);
    await store.append(someRows(10));
    await refused(/the first 5 records of the log are not those/);
    expect((await store.latestCheckpoint())?.size).toBe(3);
  });

  it('unless it lacks checkpoints alone, and no record', async () => {
    await live(3);
    await save();
    clock.stepWall(5_000);
    const publisher = newPublisher();
    await publisher.start();
    const { note } = await publisher.publish();
    await publisher.close();
    await restore();
    await live(0);
    expect((await store.latestCheckpoint())?.note).toBe(note);
  });
});

describe('a database that was replaced is not signed on', () => {
  it('while it is empty, nor with another history of the same size', async () => {
    await live(300);
    await remove();
    await refused(/the log has 0 records, and a checkpoint over 300 has been signed/);
    await store.append(someRows(300));
    await refused(/the first 300 records of the log are not those/);
    expect(await store.latestCheckpoint()).toBeUndefined();
  });

  it('with another history that was signed elsewhere', async () => {
    await live(4);
    const own = await readFile(file, 'utf8');
    await rm(file);
    await remove();
    await live(6);
    await writeFile(file, own);
    await refused(/the first 4 records of the log are not those/);
  });
});
