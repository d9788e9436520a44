import { describe, expect, it } from 'vitest';
import { SLICE } from '../../../origin/audit/retention-run.ts';
import { StoreError } from '../../../origin/store/store.ts';
import { recordSchema } from '../../../shared/record.ts';
import { dropped, policyOf, RetentionFixture } from './retention-fixture.ts';

/** A log of so many calls whose time is over. */
async function overdue(calls: number): Promise<RetentionFixture> {
  const fixture = new RetentionFixture();
  const policy = await fixture.enforce(policyOf('1.0.0', 30));
  for (let call = 0; call < calls; call += 1) await fixture.call(policy);
  await fixture.cover();
  fixture.days(30);
  return fixture;
}

const placesBelow = (size: number): number[] => Array.from({ length: size }, (_, seq) => seq);

describe('a run of pruning', () => {
  it('tells in the log what was dropped, from when, under which policy row, by whom and why', async () => {
    const fixture = await overdue(2);
    const [policy] = fixture.inForce.values();
    await fixture.prune();
    expect(fixture.controls()).toEqual([
      expect.objectContaining({
        kind: 'control',
        jurisdiction: 'eu',
        actor: 'ana',
        policy: 'eu-support',
        policy_version: '1.0.0',
        policy_sha256: policy?.sha256,
        selection_reason:
          'pruned 6 records at places 0 to 5, of 2026-01-01T00:00:00.000Z to 2026-01-01T00:00:00.000Z, kept 30 days: the yearly one',
      }),
    ]);
    expect(fixture.controls().every((record) => recordSchema.safeParse(record).success)).toBe(true);
  });

  it('has room for the longest reason', async () => {
    const fixture = await overdue(1);
    fixture.retention.prune({ by: 'b'.repeat(64), why: 'w'.repeat(256), dryRun: false });
    const { run } = fixture.retention;
    if (run !== undefined) await fixture.ended(run);
    expect([run?.state, fixture.gone()]).toEqual(['done', [0, 1, 2]]);
  });

  it('that only tells says the same and changes nothing', async () => {
    const fixture = await overdue(2);
    const told = await fixture.prune(true);
    expect([fixture.gone(), fixture.controls(), await fixture.log.size()]).toEqual([[], [], 6]);
    const done = await fixture.prune();
    expect([...done.tally.rules]).toEqual([...told.tally.rules]);
    expect(dropped(told)).toEqual({ '1.0.0': 6 });
  });

  it('goes in slices of whole calls, each with a record of its own', async () => {
    const fixture = await overdue(SLICE / 2);
    expect(dropped(await fixture.prune())).toEqual({ '1.0.0': (SLICE / 2) * 3 });
    const counts = fixture.controls().map(({ selection_reason: words = '' }) => Number(words.split(' ')[1]));
    expect(counts.length).toBeGreaterThan(1);
    expect(Math.max(...counts)).toBeLessThan(SLICE + 3);
    expect(counts.every((count) => count % 3 === 0)).toBe(true);
  });

  it('keeps the rows of each policy version apart', async () => {
    const fixture = new RetentionFixture();
    await fixture.call(await fixture.enforce(policyOf('1.0.0', 10)));
    await fixture.call(await fixture.enforce(policyOf('1.0.0', 20, { name: 'other' })));
    await fixture.cover();
    fixture.days(20);
    await fixture.prune();
    expect(fixture.controls().map(({ policy }) => policy)).toEqual(['eu-support', 'other']);
  });

  it('is one at a time, and none where the log must not go on', async () => {
    const fixture = await overdue(1);
    const order = { by: 'ana', why: 'why', dryRun: false };
    const { run, release } = await fixture.firstSlice();
    expect(fixture.retention.prune(order)).toEqual({ ok: false, error: 'running' });
    release();
    await fixture.ended(run);
    fixture.shut = true;
    expect(fixture.retention.prune(order)).toEqual({ ok: false, error: 'shut' });
  });

  it('ends with the slice under way where the origin ends, and the next one goes on', async () => {
    const fixture = await overdue(SLICE);
    const { run, release } = await fixture.firstSlice();
    const closed = fixture.retention.close();
    release();
    await closed;
    expect(run.state).toBe('stopped');
    expect(fixture.gone().length).toBeLessThan(SLICE + 3);
    await fixture.prune();
    expect(fixture.gone()).toEqual(placesBelow(SLICE * 3));
  });
});

describe('a store that fails while something is pruned', () => {
  it.each(['busy', 'full', 'failed'] as const)(
    'and has kept nothing (%s): the slice is tried again',
    async (kind) => {
      const fixture = await overdue(2);
      fixture.store.fail('prune', kind, 'lost');
      const run = await fixture.prune();
      expect([run.state, dropped(run), fixture.gone()]).toEqual(['done', { '1.0.0': 6 }, placesBelow(6)]);
      expect(fixture.controls()).toHaveLength(1);
    },
  );

  it('and has kept it all the same: it is counted, and not told twice', async () => {
    const fixture = await overdue(2);
    fixture.store.fail('prune', 'failed', 'kept');
    const run = await fixture.prune();
    expect([run.state, dropped(run), fixture.gone()]).toEqual(['done', { '1.0.0': 6 }, placesBelow(6)]);
    expect(fixture.controls()).toHaveLength(1);
  });

  it('and goes on failing: the run says so, and the next one does what is left', async () => {
    const fixture = await overdue(SLICE / 2);
    const { run, release } = await fixture.firstSlice();
    for (let tries = 0; tries < 5; tries += 1) fixture.store.fail('prune', 'full', 'lost');
    release();
    await fixture.ended(run);
    expect(run).toMatchObject({ state: 'failed', fault: 'ordered by the test' });
    const before = fixture.gone();
    expect(before).toHaveLength(dropped(run)['1.0.0'] ?? 0);
    const next = await fixture.prune();
    expect(dropped(next)).toEqual({ '1.0.0': (SLICE / 2) * 3 - before.length });
    expect(fixture.gone()).toEqual(placesBelow((SLICE / 2) * 3));
  });

  it('is told apart from one that cannot be read', async () => {
    const fixture = await overdue(1);
    fixture.store.after = () => Promise.reject(new StoreError('busy', 'nobody can read'));
    expect(await fixture.prune()).toMatchObject({ state: 'failed', fault: 'nobody can read' });
  });
});
