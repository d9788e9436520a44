import { beforeEach, describe, expect, it } from 'vitest';
import { LEDGER_LIMITS } from '../../../origin/audit/ledger.ts';
import { aRecord } from '../../support/audit-records.ts';
import { settled } from '../../support/manual-clock.ts';
import { LedgerFixture, unavailable } from './ledger-fixture.ts';

describe('the ledger when an append fails', () => {
  let t: LedgerFixture;

  beforeEach(() => {
    t = new LedgerFixture();
  });

  it.each(['busy', 'full'] as const)(
    'refuses pendings at once if the store is %s, and recovers by itself',
    async (kind) => {
      t.store.failAppend(kind, 'lost');
      expect(await t.ledger.append(aRecord('pending'))).toEqual(unavailable);
      expect(t.ledger.stats().failing).toBe(true);
      const next = t.ledger.append(aRecord('pending'));
      await t.pass(LEDGER_LIMITS.retryMs);
      expect((await next).ok).toBe(true);
      expect(t.kinds()).toEqual(['pending']);
      expect(t.said).toEqual([`failing: ${kind}`, 'recovered', 'committed 1']);
    },
  );

  it.each([
    ['busy', 'lost'],
    ['failed', 'lost'],
    ['failed', 'kept'],
  ] as const)(
    'has an end once in the log after it failed as %s and was %s, and answers in time',
    async (kind, group) => {
      t.store.failAppend(kind, group);
      const end = aRecord('completed', { pending_id: 'p-1' });
      const append = t.ledger.append(end);
      const newcomer = t.ledger.append(aRecord('refused'));
      await t.pass(LEDGER_LIMITS.retryMs);
      expect((await append).ok).toBe(true);
      expect((await newcomer).ok).toBe(true);
      expect(t.kinds()).toEqual(['completed', 'refused']);
      expect(t.ids()[0]).toBe(end.id);
    },
  );

  it('ends a pending that was refused when the append failed but was kept', async () => {
    t.store.failAppend('failed', 'kept');
    expect(await t.ledger.append(aRecord('pending'))).toEqual(unavailable);
    await settled();
    expect(t.kinds()).toEqual(['pending', 'failed']);
    expect(await t.log.openPendings(10)).toEqual([]);
  });

  it('writes no trace of a pending that was refused when the append failed and was lost', async () => {
    t.store.failAppend('failed', 'lost');
    expect(await t.ledger.append(aRecord('pending'))).toEqual(unavailable);
    await t.pass(1_000);
    expect(t.kinds()).toEqual([]);
    expect(t.store.groups).toHaveLength(1);
  });

  it('writes nothing else until it knows what became of the group', async () => {
    t.store.failAppend('failed', 'kept');
    t.store.failLookups(3);
    const doubtful = t.ledger.append(aRecord('completed'));
    await settled();
    const next = t.ledger.append(aRecord('refused'));
    await t.pass(2 * LEDGER_LIMITS.retryMs);
    expect(t.store.groups).toHaveLength(1);
    await t.pass(LEDGER_LIMITS.retryMs);
    expect([(await doubtful).ok, (await next).ok]).toEqual([true, true]);
    expect(t.kinds()).toEqual(['completed', 'refused']);
  });

  it('keeps trying to write the ends of calls through a long outage, and refuses pendings meanwhile', async () => {
    for (let attempt = 0; attempt < 20; attempt += 1) t.store.failAppend('full', 'lost');
    const end = t.ledger.append(aRecord('completed'));
    await t.pass(LEDGER_LIMITS.appendMs);
    expect(await end).toEqual(unavailable);
    const pending = t.ledger.append(aRecord('pending'));
    await t.pass(LEDGER_LIMITS.retryMs);
    expect(await pending).toEqual(unavailable);
    await t.pass(10_000);
    expect(t.kinds()).toEqual(['completed']);
    expect(t.said).toEqual(['failing: full', 'recovered', 'committed 1']);
  });

  it('loses the one row that the store rejects, and none of its group', async () => {
    const twice = aRecord('completed');
    await t.ledger.append(twice);
    const group = [aRecord('pending'), twice, aRecord('completed')];
    const results = await Promise.all(group.map((record) => t.ledger.append(record)));
    expect(results.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(t.kinds()).toEqual(['completed', 'pending', 'completed']);
    expect(t.said).toContain(`lost ${twice.id}`);
    expect((await t.ledger.append(aRecord('pending'))).ok).toBe(true);
  });
});
