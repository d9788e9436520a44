import { beforeEach, describe, expect, it } from 'vitest';
import type { LoadedPolicy } from '../../../origin/policy/document.ts';
import { dropped, policyOf, RetentionFixture } from './retention-fixture.ts';

const ana = { by: 'ana', why: 'case 12/26' };

let fixture: RetentionFixture;
let policy: LoadedPolicy;

/** Calls of two tenants on two days, six records each, all of them over. */
beforeEach(async () => {
  fixture = new RetentionFixture();
  policy = await fixture.enforce(policyOf('1.0.0', 30));
  for (const _ of ['first day', 'second day']) {
    await fixture.call(policy, { tenant: 'acme' });
    await fixture.call(policy, { tenant: 'beta' });
    fixture.days(1);
  }
  await fixture.cover();
  fixture.days(30);
});

const FIRST_DAY = { from: '2026-01-01T00:00:00.000Z', to: '2026-01-01T23:59:59.999Z' };

describe('a hold', () => {
  it.each([
    ['of a tenant', { tenant: 'acme' }, [3, 4, 5, 9, 10, 11]],
    ['of a period', FIRST_DAY, [6, 7, 8, 9, 10, 11]],
    ['of a tenant in a period', { ...FIRST_DAY, tenant: 'beta' }, [0, 1, 2, 6, 7, 8, 9, 10, 11]],
    ['of all from a time on', { from: '2026-01-02T00:00:00.000Z' }, [0, 1, 2, 3, 4, 5]],
  ])('%s keeps those records whose time is over, until it is released', async (_, scope, gone) => {
    const hold = await fixture.retention.place(scope, ana);
    const run = await fixture.prune();
    expect([fixture.gone(), [...run.tally.kept]]).toEqual([gone, [['hold', 12 - gone.length]]]);
    expect(await fixture.retention.release(hold.id, ana)).toMatchObject({ ok: true });
    await fixture.prune();
    expect(fixture.gone().filter((seq) => seq < 12)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
  });

  it('on one record of a call keeps all of that call', async () => {
    const pending = fixture.record('pending', policy, { at: '2026-01-05T12:00:00.000Z' });
    const end = { pending_id: pending.id, at: '2026-01-05T12:00:01.000Z' };
    const first = await fixture.write(pending, fixture.record('completed', policy, end));
    await fixture.cover();
    await fixture.retention.place({ from: end.at, to: end.at }, ana);
    fixture.days(31);
    await fixture.prune();
    expect(fixture.gone()).not.toContain(first);
    expect(fixture.gone()).not.toContain(first + 1);
  });

  it('placed while a run goes on wins from that moment', async () => {
    const { run, release } = await fixture.firstSlice();
    await fixture.retention.place({ tenant: 'acme' }, ana);
    release();
    await fixture.ended(run);
    expect([run.state, fixture.gone()]).toEqual(['done', [3, 4, 5, 9, 10, 11]]);
    expect([dropped(run), [...run.tally.kept]]).toEqual([{ '1.0.0': 6 }, [['hold', 6]]]);
  });

  it('is told of in the log, and its tenant only in words, so that no tenant is told', async () => {
    const { id } = await fixture.retention.place({ ...FIRST_DAY, tenant: 'acme' }, ana);
    await fixture.retention.release(id, { by: 'ben', why: 'it was settled' });
    const told = fixture
      .controls()
      .map(({ actor, tenant, selection_reason: words }) => [actor, tenant, words]);
    const scope = `records of acme from ${FIRST_DAY.from} to ${FIRST_DAY.to}`;
    expect(told).toEqual([
      ['ana', undefined, `hold ${id} placed on ${scope}: case 12/26`],
      ['ben', undefined, `hold ${id} released, was on ${scope}: it was settled`],
    ]);
  });

  it('has room for the longest tenant and the longest reason', async () => {
    const longest = { ...FIRST_DAY, tenant: 't'.repeat(63) };
    const { id } = await fixture.retention.place(longest, { by: 'b'.repeat(64), why: 'w'.repeat(256) });
    const released = await fixture.retention.release(id, { by: 'b'.repeat(64), why: 'w'.repeat(256) });
    expect(released.ok).toBe(true);
  });

  it('is released once, and only where there is one', async () => {
    const { id } = await fixture.retention.place({ tenant: 'acme' }, ana);
    await fixture.retention.release(id, ana);
    expect(await fixture.retention.release(id, ana)).toEqual({ ok: false, error: 'released' });
    expect(await fixture.retention.release('no-such', ana)).toEqual({ ok: false, error: 'unknown' });
  });

  it('that the store kept although it failed is placed, and one that it lost is not', async () => {
    fixture.store.fail('saveHold', 'failed', 'kept');
    const { id } = await fixture.retention.place({ tenant: 'acme' }, ana);
    fixture.store.fail('saveHold', 'failed', 'lost');
    await expect(fixture.retention.place({ tenant: 'beta' }, ana)).rejects.toMatchObject({ kind: 'failed' });
    expect((await fixture.retention.holds()).map((hold) => hold.id)).toEqual([id]);
    fixture.store.fail('saveHold', 'failed', 'lost');
    await expect(fixture.retention.release(id, ana)).rejects.toMatchObject({ kind: 'failed' });
    fixture.store.fail('saveHold', 'failed', 'kept');
    expect(await fixture.retention.release(id, ana)).toMatchObject({ ok: true });
    expect(fixture.controls()).toHaveLength(2);
  });
});
