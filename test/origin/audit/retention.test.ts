import { describe, expect, it } from 'vitest';
import { dropped, policyOf, RetentionFixture } from './retention-fixture.ts';

describe('a record is kept', () => {
  it('as long as its policy says, to the millisecond', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 30));
    await fixture.call(policy);
    await fixture.cover();
    fixture.clock.advance(30 * 86_400_000 - 1);
    expect(dropped(await fixture.prune())).toEqual({});
    fixture.clock.advance(1);
    expect(dropped(await fixture.prune())).toEqual({ '1.0.0': 3 });
    expect(fixture.gone()).toEqual([0, 1, 2]);
  });

  it('until a checkpoint over it is as old, whatever the clock said that wrote it', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 30));
    fixture.clock.stepWall(-3_650 * 86_400_000);
    await fixture.call(policy);
    fixture.clock.stepWall(3_650 * 86_400_000);
    expect(dropped(await fixture.prune())).toEqual({});
    await fixture.cover();
    fixture.days(29);
    expect(dropped(await fixture.prune())).toEqual({});
    fixture.days(1);
    expect(dropped(await fixture.prune())).toEqual({ '1.0.0': 3 });
  });

  it('so also beside records of a policy that keeps them for less', async () => {
    const fixture = new RetentionFixture();
    const long = await fixture.enforce(policyOf('1.0.0', 30));
    const short = await fixture.enforce(policyOf('1.0.0', 10, { name: 'short' }));
    fixture.clock.stepWall(-3_650 * 86_400_000);
    await fixture.call(long);
    await fixture.call(short);
    fixture.clock.stepWall(3_650 * 86_400_000);
    await fixture.cover();
    fixture.days(10);
    await fixture.prune();
    expect(fixture.gone()).toEqual([3, 4, 5]);
    fixture.days(20);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it('until its own time is over, however old the checkpoint over it is', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 30));
    await fixture.call(policy, { at: new Date(fixture.clock.now() + 5 * 86_400_000).toISOString() });
    await fixture.cover();
    fixture.days(30);
    expect(fixture.gone()).toEqual([]);
    await fixture.prune();
    expect(fixture.gone()).toEqual([]);
    fixture.days(5);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1, 2]);
  });

  it('for ever where its policy names no time', async () => {
    const fixture = new RetentionFixture();
    await fixture.call(await fixture.enforce(policyOf('1.0.0')));
    await fixture.call(await fixture.enforce(policyOf('1.0.0', 1, { name: 'short' })));
    await fixture.cover();
    fixture.days(36_525);
    await fixture.prune();
    expect(fixture.gone()).toEqual([3, 4, 5]);
  });

  it('longer where the version in force now asks for longer, and no shorter where it asks for less', async () => {
    const fixture = new RetentionFixture();
    await fixture.call(await fixture.enforce(policyOf('1.0.0', 10)));
    const second = await fixture.enforce(policyOf('2.0.0', 60));
    await fixture.cover();
    fixture.days(59);
    await fixture.prune();
    expect(fixture.gone()).toEqual([]);
    await fixture.call(second);
    await fixture.cover();
    await fixture.enforce(policyOf('3.0.0', 20));
    fixture.days(20);
    expect(dropped(await fixture.prune())).toEqual({ '3.0.0': 3 });
    expect(fixture.gone()).toEqual([0, 1, 2]);
    fixture.days(40);
    expect(dropped(await fixture.prune())).toEqual({ '2.0.0': 3 });
  });

  it('as long as the strictest pack of its own time', async () => {
    const fixture = new RetentionFixture();
    await fixture.call(await fixture.enforce(policyOf('1.0.0', 30, { packs: ['eu-ai-act-high-risk'] })));
    await fixture.enforce(policyOf('2.0.0', 30));
    await fixture.cover();
    fixture.days(183);
    await fixture.prune();
    expect(fixture.gone()).toEqual([]);
    fixture.days(1);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1, 2]);
  });

  it('as long as the longest of all policies where it is under none, and so is what tells of changes', async () => {
    const fixture = new RetentionFixture();
    await fixture.enforce(policyOf('1.0.0', 90));
    await fixture.enforce(policyOf('2.0.0', 10));
    await fixture.write(fixture.record('refused', undefined), fixture.record('control', undefined));
    await fixture.cover();
    fixture.days(89);
    await fixture.prune();
    expect(fixture.gone()).toEqual([]);
    fixture.days(1);
    const run = await fixture.prune();
    expect([...run.tally.rules.values()].map(({ rule }) => [rule.version, rule.basis])).toEqual([
      ['1.0.0', 'longest'],
    ]);
    expect(fixture.gone()).toEqual([0, 1]);
  });

  it('for ever where nobody knows its policy, or there is none at all', async () => {
    const fixture = new RetentionFixture();
    await fixture.write(fixture.record('refused', undefined));
    await fixture.cover();
    fixture.days(36_525);
    await fixture.prune();
    expect(fixture.gone()).toEqual([]);
    await fixture.write(fixture.record('refused', policyOf('0.9.0', 1)));
    await fixture.cover();
    await fixture.enforce(policyOf('1.0.0', 1));
    fixture.days(36_525);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0]);
  });

  it('for ever where the words of its policy are not those whose hash it cites', async () => {
    const fixture = new RetentionFixture();
    const policy = policyOf('1.0.0', 90, { name: 'other' });
    const { stream } = policyOf('1.0.0', 1, { name: 'other' });
    const { name, version, sha256 } = policy;
    await fixture.log.keepPolicies([{ name, version, sha256, stream, at: '' }]);
    await fixture.call(policy);
    await fixture.call(await fixture.enforce(policyOf('1.0.0', 1)));
    await fixture.cover();
    fixture.days(1);
    await fixture.prune();
    expect(fixture.gone()).toEqual([3, 4, 5]);
  });
});

describe('the records of a call', () => {
  it('stay together until the last of them is over', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 1));
    const pending = fixture.record('pending', policy);
    const of = { pending_id: pending.id };
    const later = new Date(fixture.clock.now() + 1_000).toISOString();
    await fixture.write(pending, fixture.record('served', policy, of));
    await fixture.write(fixture.record('completed', policy, { ...of, at: later }));
    await fixture.cover();
    fixture.days(1);
    const early = await fixture.prune();
    expect([fixture.gone(), [...early.tally.kept]]).toEqual([[], [['call', 2]]]);
    fixture.clock.advance(1_000);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1, 2]);
  });

  it('stay where it has no end', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 1));
    await fixture.write(fixture.record('pending', policy));
    await fixture.write(fixture.record('refused', policy));
    await fixture.cover();
    fixture.days(400);
    const run = await fixture.prune();
    expect([fixture.gone(), [...run.tally.kept]]).toEqual([[1], [['call', 1]]]);
  });

  it('stay beside a late one of theirs, which stays with them', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 1));
    const pending = fixture.record('pending', policy);
    const of = { pending_id: pending.id };
    const later = new Date(fixture.clock.now() + 86_400_000).toISOString();
    await fixture.write(pending, fixture.record('completed', policy, { ...of, at: later }));
    await fixture.write(fixture.record('violation', policy, of));
    await fixture.cover();
    fixture.days(1);
    await fixture.prune();
    expect(fixture.gone()).toEqual([]);
    fixture.days(1);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1]);
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1, 2]);
  });

  it('stay while an endpoint is in quarantine by them, until somebody has released it', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 1));
    const pending = fixture.record('pending', policy, { endpoint: 'fra' });
    const violation = { endpoint: 'fra', region_verdict: 'mismatch', pending_id: pending.id } as const;
    await fixture.write(pending, fixture.record('violation', policy, violation));
    await fixture.cover();
    fixture.days(2);
    const run = await fixture.prune();
    expect([fixture.gone(), [...run.tally.kept]]).toEqual([[], [['quarantine', 2]]]);
    const released = {
      endpoint: 'fra',
      selection_reason: 'circuit released, was quarantined: it was mended',
    };
    await fixture.write(fixture.record('control', undefined, released));
    await fixture.prune();
    expect(fixture.gone()).toEqual([0, 1]);
  });
});

describe('what is no record any more', () => {
  it('stays, and is counted', async () => {
    const fixture = new RetentionFixture();
    const policy = await fixture.enforce(policyOf('1.0.0', 1));
    await fixture.write(fixture.record('refused', policy), fixture.record('refused', policy));
    const [row] = fixture.log.rows;
    if (row === undefined) throw new Error('nothing was written');
    fixture.tables.rows[0] = { ...row, canonical: '{"kind":7}' };
    await fixture.cover();
    fixture.days(1);
    const run = await fixture.prune();
    expect([fixture.gone(), [...run.tally.kept]]).toEqual([[1], [['unreadable', 1]]]);
  });
});
