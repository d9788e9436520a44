import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PublisherFixture, shortly } from './publisher-fixture.ts';

const MINUTE = 60_000;

/** A log with two checkpoints, and three records that none covers yet. */
async function underWay(): Promise<PublisherFixture> {
  const t = new PublisherFixture();
  await t.publisher.start();
  await t.append(5);
  await t.pass(30_000);
  await t.append(3);
  return t;
}

const sizes = (t: PublisherFixture): number[] => t.tables.checkpoints.map(({ size }) => size);

describe('a checkpoint whose file cannot be written', () => {
  it.each(['kept', 'lost'] as const)('(%s) is made again, and shown to nobody before', async (fate) => {
    const t = await underWay();
    t.head.fail(fate);
    await expect(shortly(t, t.publisher.publish())).rejects.toThrow('ordered');
    expect(t.publisher.published.latest?.size).toBe(5);
    expect(sizes(t)).toEqual([0, 5]);
    await t.pass(30_000);
    expect(sizes(t)).toEqual([0, 5, 8]);
    expect(t.faults()).toEqual([]);
  });

  it.each(['kept', 'lost'] as const)('(%s) is no obstacle to the next process', async (fate) => {
    const t = await underWay();
    t.head.fail(fate);
    await expect(shortly(t, t.publisher.publish())).rejects.toThrow('ordered');
    await t.restart();
    // What stands in the file was signed, so the table gets it too.
    expect(sizes(t)).toEqual(fate === 'kept' ? [0, 5, 8] : [0, 5]);
    await t.append(1);
    await t.pass(30_000);
    expect(sizes(t).at(-1)).toBe(9);
    expect(t.faults()).toEqual([]);
  });
});

describe('a checkpoint that the database does not take', () => {
  it.each([
    ['busy', 'lost'],
    ['full', 'lost'],
    ['failed', 'kept'],
    ['failed', 'lost'],
  ] as const)('(%s, %s) is made again, and nothing is signed over other records', async (kind, group) => {
    const t = await underWay();
    t.store.fail('publish', kind, group);
    await expect(shortly(t, t.publisher.publish())).rejects.toThrow('ordered');
    expect(t.publisher.published.latest?.size).toBe(5);
    await t.append(300);
    await t.pass(30_000);
    expect(sizes(t).at(-1)).toBe(308);
    expect(t.tables.tileRoots.get(1)).toHaveLength(1);
    expect(t.faults()).toEqual([]);
  });

  it.each(['kept', 'lost'] as const)(
    '(%s) is in the table once the next process has begun',
    async (group) => {
      const t = await underWay();
      await t.append(300);
      t.store.fail('publish', 'failed', group);
      await expect(shortly(t, t.publisher.publish())).rejects.toThrow('ordered');
      await t.restart();
      expect(sizes(t)).toEqual([0, 5, 308]);
      expect(t.publisher.published.latest?.note).toBe(t.head.note);
      expect(t.faults()).toEqual([]);
    },
  );

  it('is told once while it lasts, and tried again every few seconds', async () => {
    const t = await underWay();
    for (let time = 0; time < 4; time += 1) t.store.fail('publish', 'full', 'lost');
    await t.pass(MINUTE);
    expect(sizes(t)).toEqual([0, 5, 8]);
    const lines = t.said.map((line) => JSON.parse(line).msg);
    expect(lines).toEqual([
      'no checkpoint could be published; it is tried again',
      'checkpoints are published again',
    ]);
  });

  it('keeps the hour that it would have closed for the next one', async () => {
    const t = new PublisherFixture(Date.UTC(2028, 1, 29, 11, 59, 50));
    await t.publisher.start();
    t.store.fail('publish', 'busy', 'lost');
    await t.pass(MINUTE);
    expect(t.shown().flatMap(([, , hour]) => hour ?? [])).toEqual(['2028-02-29T12:00:00.000Z']);
  });
});

describe('a process that ends between any two steps', () => {
  it('leaves every checkpoint ever signed the beginning of the log, and loses none that was shown', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('append' as const), rows: fc.integer({ min: 1, max: 300 }) }),
      fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 1, max: 40_000 }) }),
      fc.record({
        do: fc.constant('file' as const),
        fate: fc.constantFrom('kept' as const, 'lost' as const),
      }),
      fc.record({
        do: fc.constant('table' as const),
        fate: fc.constantFrom('kept' as const, 'lost' as const),
      }),
      fc.record({
        do: fc.constant('set the clock' as const),
        ms: fc.integer({ min: -7_200_000, max: 7_200_000 }),
      }),
      fc.record({ do: fc.constant('crash' as const) }),
      fc.record({ do: fc.constant('stop' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 25 }), async (steps) => {
        const t = new PublisherFixture();
        await t.publisher.start();
        const shown = new Set<string>();
        for (const taken of steps) {
          if (taken.do === 'append') await t.append(taken.rows);
          else if (taken.do === 'pass') await t.pass(taken.ms, 5_000);
          else if (taken.do === 'file') t.head.fail(taken.fate);
          else if (taken.do === 'table') t.store.fail('publish', 'failed', taken.fate);
          else if (taken.do === 'set the clock') t.clock.stepWall(taken.ms);
          else {
            if (taken.do === 'stop') await shortly(t, t.publisher.close());
            await restarted(t);
          }
          const { latest } = t.publisher.published;
          if (latest !== undefined) shown.add(latest.note);
        }
        const kept = new Set(t.tables.checkpoints.map(({ note }) => note));
        expect([...shown].filter((note) => !kept.has(note))).toEqual([]);
        expect(t.publisher.broken).toBeUndefined();
        expect(t.faults()).toEqual([]);
      }),
      { numRuns: 60 },
    );
  });
});

/** The faults that are still ordered can meet a start too, which is then made again. */
async function restarted(t: PublisherFixture): Promise<void> {
  for (let starts = 0; ; starts += 1) {
    try {
      await t.restart();
      return;
    } catch (cause) {
      if (starts > 50) throw cause;
    }
  }
}
