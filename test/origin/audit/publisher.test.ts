import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { settled } from '../../support/manual-clock.ts';
import { PublisherFixture, START } from './publisher-fixture.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const started = async (start = START): Promise<PublisherFixture> => {
  const t = new PublisherFixture(start);
  await t.publisher.start();
  return t;
};

describe('a log', () => {
  it('begins with a checkpoint over no record', async () => {
    const t = await started();
    expect(t.shown()).toEqual([[0, '2028-02-28T21:30:00.000Z', undefined]]);
    expect(t.faults()).toEqual([]);
  });

  it('is covered within thirty seconds of a record, and left alone while there is none', async () => {
    const t = await started();
    await t.pass(7 * MINUTE);
    expect(t.shown()).toHaveLength(1);
    await t.append(3);
    await t.pass(30_000);
    expect(t.shown().map(([size]) => size)).toEqual([0, 3]);
    await t.append(1);
    await t.pass(30_000);
    expect(t.shown().map(([size]) => size)).toEqual([0, 3, 4]);
    expect(t.faults()).toEqual([]);
  });

  it('is never without a record for longer than a minute, whenever records come', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 90 }), { maxLength: 12 }), async (gaps) => {
        const t = await started();
        const due: [size: number, by: number][] = [];
        for (const gap of gaps) {
          await t.pass(gap * 1_000);
          await t.append(1);
          due.push([t.tables.rows.length, t.clock.now() + MINUTE]);
        }
        await t.pass(MINUTE);
        for (const [size, by] of due) {
          const covering = t.tables.checkpoints.find((checkpoint) => checkpoint.size >= size);
          expect(Date.parse(covering?.at ?? '')).toBeLessThanOrEqual(by);
        }
        expect(t.faults()).toEqual([]);
      }),
      { numRuns: 10 },
    );
  });
});

describe('a full hour', () => {
  it('is closed by the first checkpoint after it, also where nothing happened', async () => {
    const t = await started();
    await t.pass(2.5 * HOUR, 10_000);
    expect(t.shown().slice(1)).toEqual([
      [0, '2028-02-28T22:00:00.000Z', '2028-02-28T22:00:00.000Z'],
      [0, '2028-02-28T23:00:00.000Z', '2028-02-28T23:00:00.000Z'],
      [0, '2028-02-29T00:00:00.000Z', '2028-02-29T00:00:00.000Z'],
    ]);
  });

  it('in the middle of a burst divides it: each record lies in one hour, by its place', async () => {
    const t = await started(Date.UTC(2028, 1, 29, 23, 59, 55));
    for (let second = 0; second < 10; second += 1) {
      await t.append(10);
      await t.pass(1_000);
    }
    await t.pass(MINUTE);
    const closing = t.tables.checkpoints.filter(({ hour }) => hour !== undefined);
    expect(closing.map(({ size, hour }) => [size, hour])).toEqual([[50, '2028-03-01T00:00:00.000Z']]);
    expect(t.tables.checkpoints.at(-1)?.size).toBe(100);
    expect(t.faults()).toEqual([]);
  });

  it('that passes while nothing runs is closed at the next start; a long pause closes its last hour alone', async () => {
    const t = await started();
    await t.append(5);
    await t.publisher.close();
    t.clock.stepWall(4 * HOUR);
    await t.restart();
    await t.pass(100, 100);
    expect(t.shown().slice(1)).toEqual([
      [5, '2028-02-28T21:30:00.000Z', undefined],
      [5, '2028-02-29T01:30:00.000Z', '2028-02-29T01:00:00.000Z'],
    ]);
  });

  it('is closed once by a clock that is set back over it', async () => {
    const t = await started(Date.UTC(2028, 1, 29, 11, 59, 30));
    await t.pass(MINUTE);
    t.clock.stepWall(-2 * MINUTE);
    await t.append(4);
    await t.pass(5 * MINUTE);
    const hours = t.shown().flatMap(([, , hour]) => hour ?? []);
    expect(hours).toEqual(['2028-02-29T12:00:00.000Z']);
    expect(t.faults()).toEqual([]);
  });
});

describe('the attested time', () => {
  it('stands still while a clock that was set back catches up, over a restart too', async () => {
    const t = await started();
    await t.append(1);
    await t.pass(MINUTE);
    const last = t.shown().at(-1)?.[1];
    t.clock.stepWall(-HOUR);
    await t.append(1);
    await t.pass(MINUTE);
    await t.publisher.close();
    await t.restart();
    await t.append(1);
    await t.pass(MINUTE);
    expect(t.shown().slice(-2)).toEqual([
      [2, last, undefined],
      [3, last, undefined],
    ]);
    expect(t.faults()).toEqual([]);
  });
});

describe('a checkpoint on demand', () => {
  it('covers the place that was asked for, without waiting for its time', async () => {
    const t = await started();
    await t.append(3);
    const covering = t.publisher.cover(2, 5_000);
    await t.pass(2_000, 100);
    expect(await covering).toBe(true);
    expect(t.shown().map(([size]) => size)).toEqual([0, 3]);
  });

  it('is shared by all who ask, and there is none more than once a second', async () => {
    const t = await started();
    await t.pass(1_000);
    const asked: Promise<boolean>[] = [];
    for (let tenth = 0; tenth < 50; tenth += 1) {
      await t.append(1);
      asked.push(...Array.from({ length: 20 }, () => t.publisher.cover(tenth, 5_000)));
      await t.pass(100, 100);
    }
    await t.pass(2_000);
    expect(new Set(await Promise.all(asked))).toEqual(new Set([true]));
    expect(t.shown().length).toBeLessThanOrEqual(1 + 6);
    expect(t.faults()).toEqual([]);
  });

  it('is given up after the time of who asks, while the store hangs', async () => {
    const t = await started();
    await t.pass(1_000);
    await t.append(1);
    const release = t.store.hold('publish');
    const covering = t.publisher.cover(0, 2_000);
    await t.pass(2_000);
    expect(await covering).toBe(false);
    release();
    await settled();
    expect(await t.publisher.cover(0, 0)).toBe(true);
  });

  it('is signed anew where nothing has come but time, so that a window has an end', async () => {
    const t = await started();
    await t.pass(2_000);
    const { size, at } = await t.publisher.publish();
    expect([size, at]).toEqual([0, '2028-02-28T21:30:02.000Z']);
  });
});

describe('the end', () => {
  it('publishes what has come since, and leaves no timer behind', async () => {
    const t = await started();
    await t.append(7);
    await t.publisher.close();
    expect(t.shown().map(([size]) => size)).toEqual([0, 7]);
    expect(t.clock.waiting).toBe(0);
  });

  it('does not wait for the time at which the next checkpoint would have been due', async () => {
    const t = await started();
    await t.append(7);
    const asked = t.publisher.publish();
    await settled();
    await t.publisher.close();
    expect((await asked).size).toBe(7);
    expect(t.clock.waiting).toBe(0);
  });

  it('is not held up by a store that hangs', async () => {
    const t = await started();
    await t.append(7);
    t.store.hold('publish');
    const closed = t.publisher.close();
    await t.pass(6_000);
    await closed;
  });
});

describe('a log of many tiles', () => {
  it('keeps the root of each full tile once, with the checkpoint that first covers it', async () => {
    const t = await started();
    for (const more of [255, 1, 1, 600, 4_000, 300]) {
      await t.append(more);
      await t.pass(2_000);
      await t.publisher.publish();
      expect(t.tables.tileRoots.get(1)?.length ?? 0).toBe(Math.floor(t.tables.rows.length / 256));
    }
    expect(t.faults()).toEqual([]);
  });

  it('that is there already when it is first published is covered as it stands', async () => {
    const t = new PublisherFixture();
    await t.append(700);
    await t.publisher.start();
    await t.pass(100, 100);
    expect(t.shown()).toEqual([[700, '2028-02-28T21:30:00.000Z', undefined]]);
    expect(t.faults()).toEqual([]);
  });
});
