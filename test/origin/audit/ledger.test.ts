import { beforeEach, describe, expect, it } from 'vitest';
import { LEDGER_LIMITS } from '../../../origin/audit/ledger.ts';
import type { StoreFault } from '../../../origin/store/store.ts';
import { aRecord } from '../../support/audit-records.ts';
import { settled } from '../../support/manual-clock.ts';
import { LedgerFixture, unavailable } from './ledger-fixture.ts';

const many = (count: number) => Array.from({ length: count }, () => aRecord('pending'));

describe('the ledger', () => {
  let t: LedgerFixture;

  beforeEach(() => {
    t = new LedgerFixture();
  });

  it('answers with the row, and only once the store has it', async () => {
    const release = t.store.hold();
    const record = aRecord('pending');
    let answered = false;
    const append = t.ledger.append(record).finally(() => {
      answered = true;
    });
    await settled();
    expect([answered, t.log.rows.length]).toEqual([false, 0]);
    release();
    const result = await append;
    expect(result).toMatchObject({ ok: true, value: { id: record.id, kind: 'pending' } });
    expect(t.ids()).toEqual([record.id]);
    expect(t.clock.waiting).toBe(0);
  });

  it('commits what comes during a commit as one next group, in the order it came', async () => {
    const release = t.store.hold();
    const first = t.ledger.append(aRecord('refused'));
    await settled();
    const rest = many(300);
    const appends = rest.map((record) => t.ledger.append(record));
    expect(t.ledger.stats()).toMatchObject({ queued: 300 });
    release();
    await Promise.all([first, ...appends]);
    expect(t.store.groups.map((group) => group.length)).toEqual([1, LEDGER_LIMITS.groupMax, 44]);
    expect(t.ids().slice(1)).toEqual(rest.map(({ id }) => id));
    expect(t.ledger.stats()).toEqual({ queued: 0, groups: 3, records: 301, failing: false });
    expect(t.said).toEqual(['committed 1', 'committed 256', 'committed 44']);
  });

  it('refuses a record that breaks its schema, and names no value of it', async () => {
    const bad = { ...aRecord('pending'), tenant: 'secret'.repeat(100) };
    await expect(t.ledger.append(bad)).rejects.toThrow('audit record breaks its schema: tenant (too_big)');
    expect(t.store.groups).toEqual([]);
  });

  describe('when the store is slow', () => {
    it('refuses a pending at its time limit, and never writes it if it had not been handed in', async () => {
      const release = t.store.hold();
      const ahead = t.ledger.append(aRecord('refused'));
      await settled();
      const append = t.ledger.append(aRecord('pending'));
      t.clock.advance(LEDGER_LIMITS.appendMs);
      expect(await append).toEqual(unavailable);
      expect(t.ledger.stats().queued).toBe(0);
      release();
      await ahead;
      await settled();
      expect(t.kinds()).toEqual(['refused']);
    });

    it('ends a pending itself that was refused at its time limit and kept all the same', async () => {
      const release = t.store.hold();
      const pending = aRecord('pending', { attempt: 1, endpoint: 'fra', provider_region: 'eu-central-1' });
      const append = t.ledger.append(pending);
      await settled();
      t.clock.advance(LEDGER_LIMITS.appendMs);
      expect(await append).toEqual(unavailable);
      release();
      await settled();
      expect(t.kinds()).toEqual(['pending', 'failed']);
      expect(JSON.parse(t.log.rows[1]?.canonical ?? '')).toMatchObject({
        pending_id: pending.id,
        code: 'ledger_unavailable',
        request_id: 'req-1',
        attempt: 1,
        tenant: 'acme',
        endpoint: 'fra',
        provider_region: 'eu-central-1',
      });
      expect(await t.log.openPendings(10)).toEqual([]);
    });

    it.each(['refused', 'served', 'failed', 'completed', 'interrupted', 'violation', 'control'] as const)(
      'lets the caller of a %s go at the time limit, and still writes it',
      async (kind) => {
        const release = t.store.hold();
        const ahead = t.ledger.append(aRecord('refused'));
        await settled();
        const append = t.ledger.append(aRecord(kind));
        t.clock.advance(LEDGER_LIMITS.appendMs);
        expect(await append).toEqual(unavailable);
        release();
        await ahead;
        await settled();
        expect(t.kinds()).toEqual(['refused', kind]);
        expect(t.said.filter((word) => word.startsWith('lost'))).toEqual([]);
      },
    );

    it('refuses at once what its queue has no room for, new calls and refusals long before the ends of running calls', async () => {
      t.ledger = t.open({ queueMax: 4 });
      const release = t.store.hold();
      const first = t.ledger.append(aRecord('pending'));
      await settled();
      const queued = [t.ledger.append(aRecord('pending')), t.ledger.append(aRecord('pending'))];
      expect(await t.ledger.append(aRecord('pending'))).toEqual(unavailable);
      const flood = aRecord('refused');
      expect(await t.ledger.append(flood)).toEqual(unavailable);
      const end = () => aRecord('completed', { pending_id: 'p-1' });
      queued.push(t.ledger.append(end()), t.ledger.append(end()));
      const lost = end();
      expect(await t.ledger.append(lost)).toEqual(unavailable);
      expect(t.said).toEqual([`lost ${flood.id}`, `lost ${lost.id}`]);
      release();
      for (const result of await Promise.all([first, ...queued])) expect(result.ok).toBe(true);
    });
  });

  describe('when it is closed', () => {
    it('waits for what is queued, and takes nothing more', async () => {
      const release = t.store.hold();
      const appends = many(3).map((record) => t.ledger.append(record));
      const closing = t.ledger.close();
      expect(await t.ledger.append(aRecord('pending'))).toEqual(unavailable);
      release();
      await closing;
      expect((await Promise.all(appends)).map(({ ok }) => ok)).toEqual([true, true, true]);
      expect(t.clock.waiting).toBe(0);
    });

    it('waits no longer than its bound for a store that hangs, and says what is lost', async () => {
      t.store.hold();
      const hanging = t.ledger.append(aRecord('pending'));
      await settled();
      const end = aRecord('completed');
      const queued = t.ledger.append(end);
      const closing = t.ledger.close();
      await t.pass(LEDGER_LIMITS.drainMs);
      await closing;
      expect([await hanging, await queued]).toEqual([unavailable, unavailable]);
      expect(t.said).toEqual([`lost ${end.id}`]);
    });

    it.each<StoreFault>(['closed', 'failed'])(
      'does not try for ever on a store that was closed before it (%s)',
      async (kind) => {
        await t.log.close();
        t.store.failAppend(kind, 'lost');
        const append = t.ledger.append(aRecord('completed'));
        const closing = t.ledger.close();
        await t.pass(LEDGER_LIMITS.drainMs);
        await closing;
        expect(await append).toEqual(unavailable);
        await t.pass(LEDGER_LIMITS.retryMs);
        expect(t.clock.waiting).toBe(0);
      },
    );
  });
});
