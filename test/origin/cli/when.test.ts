import { describe, expect, it } from 'vitest';
import { momentOf, spanBetween, spanOf } from '../../../origin/cli/when.ts';

const NOW = Date.parse('2026-03-31T12:00:00.000Z');

describe('a moment as a person writes it', () => {
  it.each([
    ['now', '2026-03-31T12:00:00.000Z'],
    ['-7d', '2026-03-24T12:00:00.000Z'],
    ['-90m', '2026-03-31T10:30:00.000Z'],
    ['-1w', '2026-03-24T12:00:00.000Z'],
    ['2026-01-01', '2026-01-01T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2026-01-01T08:00Z', '2026-01-01T08:00:00.000Z'],
    ['2026-01-01T08:00:30.5+02:00', '2026-01-01T06:00:30.500Z'],
  ])('%s is %s', (text, moment) => {
    expect(momentOf('--from', text, NOW)).toBe(moment);
  });

  it.each([
    ['a day that its month does not have', '2026-02-29'],
    ['a time without its offset', '2026-01-01T08:00:00'],
    ['an hour that no day has', '2026-01-01T25:00:00Z'],
    ['a date as others write it', '01/02/2026'],
    ['a number', '1767225600'],
    ['a span without its unit', '-7'],
    ['a span of unknown units', '-7y'],
    ['a word', 'yesterday'],
    ['nothing', ''],
  ])('is not %s', (_, text) => {
    expect(() => momentOf('--from', text, NOW)).toThrow('--from takes RFC 3339');
  });
});

describe('the time between two moments', () => {
  it('ends now where nothing else is said', () => {
    expect(spanBetween({ from: '-1h', to: 'now' }, NOW)).toEqual({
      from: '2026-03-31T11:00:00.000Z',
      to: '2026-03-31T12:00:00.000Z',
    });
  });

  it.each([
    ['now', '-1d'],
    ['-1d', '-1d'],
  ])('is none from %s to %s', (from, to) => {
    expect(() => spanBetween({ from, to }, NOW)).toThrow('before --to');
  });
});

it.each([
  ['30m', 1_800_000],
  ['2h', 7_200_000],
  ['0s', 0],
  ['m', undefined],
  ['-1h', undefined],
  ['1h30m', undefined],
  ['1.5h', undefined],
])('the span %s is %s ms', (text, ms) => {
  expect(spanOf(text)).toBe(ms);
});
