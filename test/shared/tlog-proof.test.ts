import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { leafHash } from '../../shared/merkle/hash.ts';
import { formatTlogProof, parseTlogProof } from '../../shared/tlog-proof.ts';

const CHECKPOINT = `log.example/a\n3\n${leafHash('root').toString('base64')}\n\n— log.example/a AAAAAAAA\n`;
const HASHES = [leafHash('a'), leafHash('b')];
const [FIRST = '', SECOND = ''] = HASHES.map((hash) => hash.toString('base64'));
const HEADER = 'c2sp.org/tlog-proof@v1';
const TEXT = `${HEADER}\nindex 2\n${FIRST}\n${SECOND}\n\n${CHECKPOINT}`;

const parsed = (text: string) => {
  const proof = parseTlogProof(text);
  if (!proof.ok) throw new Error(proof.error);
  return proof.value;
};

describe('a tlog-proof', () => {
  it('is written as C2SP has it, with the checkpoint verbatim', () => {
    expect(formatTlogProof({ index: 2, hashes: HASHES, checkpoint: CHECKPOINT })).toBe(TEXT);
  });

  it('is read back as it was written', () => {
    expect(parsed(TEXT)).toEqual({ index: 2, hashes: HASHES, checkpoint: CHECKPOINT });
  });

  it('may have no hashes, as in a tree of one leaf', () => {
    const text = formatTlogProof({ index: 0, hashes: [], checkpoint: CHECKPOINT });
    expect(parsed(text)).toEqual({ index: 0, hashes: [], checkpoint: CHECKPOINT });
  });

  it('may carry extra data', () => {
    const extra = Buffer.from('more');
    const text = formatTlogProof({ index: 2, hashes: HASHES, checkpoint: CHECKPOINT, extra });
    expect(text.split('\n')[1]).toBe('extra bW9yZQ==');
    expect(parsed(text).extra).toEqual(extra);
  });

  it.each([
    ['another header', TEXT.replace('@v1', '@v2')],
    ['something before the header', `\n${TEXT}`],
    ['carriage returns', TEXT.replaceAll('\n', '\r\n')],
    ['no index', TEXT.replace('index 2\n', '')],
    ['an empty index', TEXT.replace('index 2', 'index ')],
    ['a hexadecimal index', TEXT.replace('index 2', 'index 0x2')],
    ['an index with leading zeros', TEXT.replace('index 2', 'index 02')],
    ['an index with spaces', TEXT.replace('index 2', 'index  2 ')],
    ['an index beyond what a number holds', TEXT.replace('index 2', 'index 9007199254740992')],
    ['two indexes', TEXT.replace('index 2', 'index 2\nindex 1')],
    ['the index after the hashes', TEXT.replace(`index 2\n${FIRST}`, `${FIRST}\nindex 2`)],
    ['extra data after the index', TEXT.replace('index 2', 'index 2\nextra bW9yZQ==')],
    ['extra data twice', TEXT.replace('index 2', 'extra bW9yZQ==\nextra bW9yZQ==\nindex 2')],
    ['extra data that is no base64', TEXT.replace('index 2', 'extra bW9y*\nindex 2')],
    ['an extra line without data', TEXT.replace('index 2', 'extra \nindex 2')],
    ['a hash that is too short', TEXT.replace(FIRST, FIRST.slice(4))],
    ['a hash with a space after it', TEXT.replace(FIRST, `${FIRST} `)],
    ['a hash of the other alphabet', TEXT.replace(FIRST, Buffer.alloc(32, 0xff).toString('base64url'))],
    ['more hashes than any tree is high', TEXT.replace(FIRST, `${FIRST}\n`.repeat(53).trim())],
    ['no checkpoint', `${HEADER}\nindex 2\n${FIRST}\n`],
    ['more than a proof can need', TEXT.replace('index 2', `extra ${'AAAA'.repeat(20_000)}\nindex 2`)],
    ['nothing', ''],
  ])('is refused with %s', (_, text) => {
    expect(parseTlogProof(text).ok).toBe(false);
  });

  it('comes to a proof or to words, whatever the text', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.nat(TEXT.length), (piece, place) => {
        const text = `${TEXT.slice(0, place)}${piece}${TEXT.slice(place)}`;
        const proof = parseTlogProof(text);
        if (proof.ok) expect(formatTlogProof(proof.value)).toBe(text);
        else expect(proof.error).not.toBe('');
      }),
    ));
});
