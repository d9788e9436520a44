import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLedger, type Ledger } from '../../../origin/audit/ledger.ts';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { systemClock } from '../../../origin/clock.ts';
import type { Store } from '../../../origin/store/store.ts';
import { TempLog } from '../../store/temp-log.ts';
import { aRecord } from '../../support/audit-records.ts';

describe('the ledger on sqlite', () => {
  let log: TempLog;
  let store: Store;
  let ledger: Ledger;

  beforeEach(async () => {
    log = await TempLog.make();
    store = await log.open();
    ledger = createLedger({ store, clock: systemClock, newId: createRecordIds(systemClock) });
  });

  afterEach(async () => {
    await ledger.close();
    await log[Symbol.asyncDispose]();
  });

  it('makes a burst durable in a few commits', async () => {
    const records = Array.from({ length: 500 }, () => aRecord('pending'));
    const results = await Promise.all(records.map((record) => ledger.append(record)));
    expect(results.every(({ ok }) => ok)).toBe(true);
    expect((await store.after(-1, 1_000)).map(({ id }) => id)).toEqual(records.map(({ id }) => id));
    expect(ledger.stats()).toMatchObject({ groups: 2, records: 500 });
  });

  it('refuses pendings while another process holds the database, loses no end, and recovers by itself', async () => {
    const intruder = log.intrude();
    intruder.exec('BEGIN IMMEDIATE');
    const end = ledger.append(aRecord('completed'));
    expect(await ledger.append(aRecord('pending'))).toMatchObject({ ok: false });
    intruder.exec('ROLLBACK');
    expect((await end).ok).toBe(true);
    expect((await ledger.append(aRecord('pending'))).ok).toBe(true);
    expect((await store.after(-1, 10)).map(({ kind }) => kind)).toEqual(['completed', 'pending']);
  });
});
