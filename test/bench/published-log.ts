import { generateKeyPairSync } from 'node:crypto';
import { CheckpointWriter } from '../../origin/audit/checkpoint-writer.ts';
import { headFile } from '../../origin/audit/signed-head.ts';
import { systemClock } from '../../origin/clock.ts';
import { openSqliteStore } from '../../origin/store/sqlite.ts';
import type { Store } from '../../origin/store/store.ts';
import { CallRows } from './call-rows.ts';

const ROWS_A_COMMIT = 1_000;

/** A SQLite store with a log of this many records, all of them under a checkpoint. */
export async function publishedLog(path: string, size: number): Promise<Store> {
  const store = await openSqliteStore({ path, zone: 'eu' });
  const rows = new CallRows();
  let kept = store.append([]);
  for (let written = 0; written < size; written += ROWS_A_COMMIT) {
    // The next group is made while the one before is written.
    const group = rows.take(Math.min(ROWS_A_COMMIT, size - written));
    await kept;
    kept = store.append(group);
  }
  await kept;
  const signer = { name: 'log.example/eu', privateKey: generateKeyPairSync('ed25519').privateKey };
  const writer = new CheckpointWriter({
    store,
    head: headFile(`${path}.checkpoint`),
    clock: systemClock,
    signer,
  });
  await writer.open();
  await writer.write();
  return store;
}
