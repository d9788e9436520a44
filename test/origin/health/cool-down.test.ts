import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { coolDownMs } from '../../../origin/health/cool-down.ts';

const NOW = Date.UTC(2026, 0, 1, 12, 0, 0);

it('can be asked of any headers at all', () => {
  const value = fc.oneof(fc.string(), fc.array(fc.string()), fc.constant(undefined));
  const name = fc.constantFrom('retry-after', 'retry-after-ms', 'x-ms-retry-after-ms', 'other');
  fc.assert(
    fc.property(fc.dictionary(name, value), (headers) => {
      const ms = coolDownMs(headers, NOW) ?? 1_000;
      expect(ms >= 1_000 && ms <= 60_000).toBe(true);
    }),
  );
});

describe('how long a busy endpoint is left alone', () => {
  it.each([
    ['milliseconds of OpenAI', { 'retry-after-ms': '2500' }, 2_500],
    ['milliseconds of Azure', { 'x-ms-retry-after-ms': '3000.5' }, 3_001],
    ['seconds', { 'retry-after': '7' }, 7_000],
    ['an HTTP date', { 'retry-after': 'Thu, 01 Jan 2026 12:00:09 GMT' }, 9_000],
    ['an HTTP date in the form of RFC 850', { 'retry-after': 'Thursday, 01-Jan-26 12:00:09 GMT' }, 9_000],
    ['an HTTP date in the form of asctime', { 'retry-after': 'Thu Jan  1 12:00:09 2026' }, 9_000],
    [
      'the finest word first',
      { 'retry-after-ms': '1500', 'x-ms-retry-after-ms': '9000', 'retry-after': '30' },
      1_500,
    ],
    ['Azure before seconds', { 'x-ms-retry-after-ms': '9000', 'retry-after': '30' }, 9_000],
    ['the longest of several', { 'retry-after': ['1', '9', '2'] }, 9_000],
    [
      'seconds or a date, whichever is longer',
      { 'retry-after': ['3', 'Thu, 01 Jan 2026 12:00:09 GMT', 'soon'] },
      9_000,
    ],
    [
      'several in milliseconds before seconds',
      { 'retry-after-ms': ['1100', '1200'], 'retry-after': '9' },
      1_200,
    ],
    ['the next word where one cannot be read', { 'retry-after-ms': 'soon', 'retry-after': '5' }, 5_000],
  ])('is read from %s', (_, headers, ms) => {
    expect(coolDownMs(headers, NOW)).toBe(ms);
  });

  it.each([
    ['nothing at all', '0', 1_000],
    ['less than nothing', '-30', 1_000],
    ['an hour', '3600', 60_000],
    ['for ever', '9'.repeat(400), 60_000],
    ['a date that has passed', 'Thu, 01 Jan 2026 11:00:00 GMT', 1_000],
    ['a date next year', 'Fri, 01 Jan 2027 12:00:00 GMT', 60_000],
  ])('is between 1 and 60 s where it asks for %s', (_, value, ms) => {
    expect(coolDownMs({ 'retry-after': value }, NOW)).toBe(ms);
  });

  it.each(['', ' ', '0x10', '1e3', '5 minutes', 'Infinity', '2026-01-01', 'Thu, 99 Foo'])(
    'is not read from %j',
    (value) => {
      expect(coolDownMs({ 'retry-after': value, 'retry-after-ms': value }, NOW)).toBeUndefined();
    },
  );
});
