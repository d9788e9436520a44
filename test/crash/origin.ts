import { once } from 'node:events';
import { flushCompileCache } from 'node:module';
import { z } from 'zod';
import { headFile } from '../../origin/audit/signed-head.ts';
import { loadConfig } from '../../origin/config.ts';
import { startOrigin } from '../../origin/main.ts';
import { openSqliteStore } from '../../origin/store/sqlite.ts';
import { Doom, failpointSchema, MortalStore, mortalHead } from './failpoint.ts';

// One origin, as `residency origin` runs it, that can be told to die at a write: by the message that lets it
// begin, or by one that comes later.
process.on('disconnect', () => process.exit(1));
const [file = ''] = process.argv.slice(2);
// Node writes it at the end only, and this process may have none.
flushCompileCache();
const [order] = await once(process, 'message');
const { failpoint } = z.strictObject({ failpoint: failpointSchema.optional() }).parse(order);
const doom = new Doom();
if (failpoint !== undefined) doom.arm(failpoint);
const config = loadConfig(file, process.env);
if (!config.ok) throw new Error(config.error.map(({ path, message }) => `${path}: ${message}`).join('\n'));
const { store, jurisdiction } = config.value;
if (store.kind !== 'sqlite') throw new Error('its log is to be in SQLite');
const origin = await startOrigin(config.value, {
  store: new MortalStore(await openSqliteStore({ path: store.file, zone: jurisdiction }), doom),
  head: mortalHead(headFile(`${store.file}.checkpoint`), doom),
});
process.on('message', (message) => {
  doom.arm(failpointSchema.parse(message));
  process.send?.('armed');
});
process.on('SIGTERM', () => {
  origin.close().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
process.send?.({ url: origin.url, admin: origin.admin });
