import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decimal,
  decodeBase64,
  decodeBase64url,
  decodeHash,
  encodeBase64,
  encodeBase64url,
} from '../../shared/base64.ts';

describe('base64', () => {
  it('reads what it writes, in both alphabets', () =>
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(decodeBase64(encodeBase64(bytes))).toEqual(Buffer.from(bytes));
        expect(decodeBase64url(encodeBase64url(bytes))).toEqual(Buffer.from(bytes));
      }),
    ));

  it.each([
    ['missing padding', '-/8'],
    ['the other alphabet', '-_8='],
    ['a space', '+/ 8='],
    ['a newline at the end', '+/8=\n'],
    ['bits that say nothing', '+/9='],
    ['padding in the middle', '+/8=+/8='],
    ['too much padding', '+/8=='],
    ['junk', '+/8=!'],
  ])('is refused with %s', (_, text) => {
    expect(decodeBase64(text)).toBeUndefined();
  });

  it.each([
    ['padding', '-_8='],
    ['the other alphabet', '+/8'],
    ['bits that say nothing', '-_9'],
    ['a lone character', '-_8A-'],
    ['junk', '-_8.'],
  ])('is refused in a URL with %s', (_, text) => {
    expect(decodeBase64url(text)).toBeUndefined();
  });

  it.each([
    ['31 bytes', 31],
    ['33 bytes', 33],
    ['nothing', 0],
  ])('is no hash with %s', (_, length) => {
    expect(decodeHash(encodeBase64(Buffer.alloc(length)))).toBeUndefined();
    expect(decodeHash(encodeBase64(Buffer.alloc(32)))).toHaveLength(32);
  });
});

describe('a decimal number', () => {
  it.each([
    ['0', 0],
    ['10', 10],
    ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ])('is read from %s', (text, value) => {
    expect(decimal(text)).toBe(value);
  });

  it.each([
    ['nothing', ''],
    ['hexadecimal', '0x10'],
    ['spaces', ' 5 '],
    ['leading zeros', '007'],
    ['two zeros', '00'],
    ['a sign', '+5'],
    ['a negative one', '-5'],
    ['a fraction', '5.0'],
    ['an exponent', '1e3'],
    ['a newline at the end', '5\n'],
    ['digits of another script', '٥'],
    ['more than a number holds', '9007199254740992'],
    ['very many digits', '1'.repeat(400)],
  ])('is refused with %s', (_, text) => {
    expect(decimal(text)).toBeUndefined();
  });
});
