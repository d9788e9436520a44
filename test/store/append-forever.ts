import { openSqliteStore } from '../../origin/store/sqlite.ts';
import type { Store } from '../../origin/store/store.ts';
import { aRow } from '../support/audit-records.ts';

/** Groups handed in and not yet acknowledged, so that a kill at any moment falls into a commit. */
const IN_FLIGHT = 3;

/** Appends groups until it is killed, and prints the ids of each one that was acknowledged, one group a line. */
async function appendForever(store: Store, lane: number): Promise<never> {
  for (let turn = 0; ; turn += 1) {
    const size = 1 + ((turn * 7 + lane) % 40);
    const workload = `group of ${size}`;
    const request_id = `${process.pid}-${lane}-${turn}`;
    const rows = Array.from({ length: size }, () => aRow('pending', { workload, request_id }));
    await store.append(rows);
    process.stdout.write(`${rows.map(({ id }) => id).join(' ')}\n`);
  }
}

const [path] = process.argv.slice(2);
if (path === undefined) throw new Error('usage: append-forever.ts FILE');
const store = await openSqliteStore({ path, zone: 'eu' });
await Promise.all(Array.from({ length: IN_FLIGHT }, (_, lane) => appendForever(store, lane)));
