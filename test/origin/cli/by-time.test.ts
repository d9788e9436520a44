import { describe, expect, it } from 'vitest';
import { byTime } from '../../../origin/cli/by-time.ts';
import { aRecord } from '../../support/audit-records.ts';

/** Entries of one log, each named by its place in it, at so many seconds past the minute. */
const log = (name: string, ...seconds: number[]) =>
  seconds.map((second, index) => {
    const at = `2026-01-01T00:00:${String(second).padStart(2, '0')}.000Z`;
    return { name: `${name}${index}`, record: aRecord('refused', { at }) };
  });

const namesOf = (entries: readonly { readonly name: string }[]) => entries.map(({ name }) => name).join(' ');

describe('the records of several zones', () => {
  it('are one list by their times', () => {
    expect(namesOf(byTime([log('eu', 1, 4, 5), log('us', 2, 6), log('au')]))).toBe('eu0 us0 eu1 eu2 us1');
  });

  it('keep the order of their log where the clock of an origin was set back', () => {
    expect(namesOf(byTime([log('eu', 5, 1, 7), log('us', 2, 6)]))).toBe('us0 eu0 eu1 us1 eu2');
  });

  it('of one and the same time stand in the order of the zones', () => {
    expect(namesOf(byTime([log('eu', 1, 1), log('us', 1)]))).toBe('eu0 eu1 us0');
  });
});
