import { describe, expect, it } from 'vitest';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { recordSchema } from '../../../shared/record.ts';
import { aRecord } from '../../support/audit-records.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const expectRising = (ids: readonly string[]): void => {
  expect(ids).toEqual([...new Set(ids)].sort());
};

describe('record ids', () => {
  it('rise within one millisecond, over time, and when the clock steps back', () => {
    const clock = new ManualClock();
    const newId = createRecordIds(clock);
    const ids = [newId(), newId()];
    clock.advance(1);
    ids.push(newId(), newId());
    clock.stepWall(-3_600_000);
    ids.push(newId(), newId());
    clock.advance(3_700_000);
    ids.push(newId());
    expectRising(ids);
    for (const id of ids) expect(recordSchema.safeParse(aRecord('refused', { id })).success).toBe(true);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 48, 8.64e15])(
    'are made whatever the clock says (%s)',
    (now) => {
      const newId = createRecordIds({ now: () => now, monotonic: () => 0, setTimeout: () => () => {} });
      const ids = [newId(), newId(), newId()];
      expectRising(ids);
      for (const id of ids) expect(id).toMatch(/^[0-7][0-9A-HJKMNP-TV-Z]{25}$/);
    },
  );

  it('go on when the random part of a millisecond is used up', () => {
    const newId = createRecordIds(new ManualClock(), () => 0.999999);
    expectRising([newId(), newId(), newId()]);
  });
});
