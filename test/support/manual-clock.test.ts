import { describe, expect, it } from 'vitest';
import { ManualClock } from './manual-clock.ts';

describe('the hand-driven clock', () => {
  it('fires timers in the order of their time, at their time, and those that they set', () => {
    const clock = new ManualClock(1_000);
    const fired: [string, number][] = [];
    const note = (name: string) => () => void fired.push([name, clock.now()]);
    clock.setTimeout(note('late'), 20);
    clock.setTimeout(() => {
      note('early')();
      clock.setTimeout(note('chained'), 5);
    }, 10);
    clock.setTimeout(note('cancelled'), 1)();
    clock.advance(19);
    expect(fired).toEqual([
      ['early', 1_010],
      ['chained', 1_015],
    ]);
    clock.stepWall(-500);
    clock.advance(1);
    expect(fired.at(-1)).toEqual(['late', 520]);
    expect(clock.waiting).toBe(0);
  });
});
