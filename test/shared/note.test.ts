import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatNote, NOTE_LIMITS, parseNote, parseSignatureLine } from '../../shared/note.ts';
import { attestedBy } from '../../shared/note-signature.ts';
import { formatVkey, parseVkey } from '../../shared/verifier-key.ts';

/** The example of Go's implementation of signed notes. */
const VKEY = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
const TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const LINE =
  '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=';

const key = () => {
  const parsed = parseVkey(VKEY);
  if (!parsed.ok) throw new Error(parsed.error);
  return parsed.value;
};

describe('a signed note', () => {
  it('of another implementation is read, verified and written again', () => {
    const note = parseNote(`${TEXT}\n${LINE}\n`);
    if (!note.ok) throw new Error(note.error);
    const [signature] = note.value.signatures;
    if (signature === undefined) throw new Error('no signature');
    expect(note.value.text).toBe(TEXT);
    expect(attestedBy(key(), TEXT, signature).holds).toBe(true);
    expect(attestedBy(key(), TEXT.replace('answer', 'Answer'), signature).holds).toBe(false);
    expect(formatNote(note.value)).toBe(`${TEXT}\n${LINE}\n`);
  });

  it('ends its text at the last empty line', () => {
    const note = parseNote(`one\n\ntwo\n\n${LINE}\n`);
    expect(note).toMatchObject({
      ok: true,
      value: { text: 'one\n\ntwo\n', signatures: [{ name: 'PeterNeumann' }] },
    });
  });

  it('may have 16 signatures of 5 kB each, as the specification asks', () => {
    const line = `— a.example/b ${Buffer.alloc(5004, 7).toString('base64')}\n`;
    expect(parseNote(`text\n\n${line.repeat(16)}`).ok).toBe(true);
  });

  it.each([
    ['no signature', TEXT],
    ['an empty line and no signature', `${TEXT}\n`],
    ['no empty line', `${TEXT}${LINE}\n`],
    ['no text', `\n${LINE}\n`],
    ['no newline at the end', `${TEXT}\n${LINE}`],
    ['another character for the newline at the end', `${TEXT}\n${LINE}!`],
    ['an empty line at the end', `${TEXT}\n${LINE}\n\n`],
    ['text after the signatures', `${TEXT}\n${LINE}\nmore\n`],
    ['carriage returns', `${TEXT}\n${LINE}\r\n`],
    ['a tab', `a\tb\n\n${LINE}\n`],
    ['a zero byte', `a\0b\n\n${LINE}\n`],
    ['half of a character', `a\ud800b\n\n${LINE}\n`],
    ['a hyphen for the dash', `${TEXT}\n${LINE.replace('—', '-')}\n`],
    ['two spaces', `${TEXT}\n${LINE.replace('— ', '—  ')}\n`],
    ['a space at the end of a line', `${TEXT}\n${LINE} \n`],
    ['a name with a plus', `${TEXT}\n${LINE.replace('PeterNeumann', 'Peter+Neumann')}\n`],
    ['a name with an ideographic space', `${TEXT}\n${LINE.replace('PeterNeumann', 'Peter\u3000N')}\n`],
    ['no name', `${TEXT}\n${LINE.replace('PeterNeumann ', '')}\n`],
    ['base64 without its padding', `${TEXT}\n${LINE.slice(0, -1)}\n`],
    ['base64 with junk in it', `${TEXT}\n${LINE.replace('x08go', 'x0*8go')}\n`],
    ['a signature that is a key id alone', `${TEXT}\n— PeterNeumann x08gow==\n`],
    ['too many signatures', `${TEXT}\n${`${LINE}\n`.repeat(NOTE_LIMITS.signatures + 1)}`],
    ['too much text', `${'a'.repeat(NOTE_LIMITS.length)}\n\n${LINE}\n`],
  ])('is refused with %s', (_, text) => {
    expect(parseNote(text).ok).toBe(false);
  });

  it('is read back as it was written, and anything else comes to words', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const note = parseNote(text);
        if (note.ok) expect(formatNote(note.value)).toBe(text);
        else expect(note.error).toMatch(/note/);
        parseSignatureLine(text);
      }),
    ));
});

describe('the text of a verifier key', () => {
  it('is read and written again', () => {
    expect(key()).toMatchObject({ name: 'PeterNeumann', type: 'ed25519' });
    expect(formatVkey(key())).toBe(VKEY);
  });

  it.each([
    ['another name', VKEY.replace('Peter', 'Petra')],
    ['another key id', VKEY.replace('c74f20a3', 'c74f20a4')],
    ['another key', VKEY.replace('ARpc', 'ARpd')],
    ['capital hex digits', VKEY.replace('c74f20a3', 'C74F20A3')],
    ['a short key id', VKEY.replace('c74f20a3', 'c74f20a')],
    ['a type that is not known', VKEY.replace('ARpc', 'Ahpc')],
    ['a key that is too short', VKEY.slice(0, -4)],
    ['a key that is too long', `${VKEY}AAAA`],
    ['no name', VKEY.replace('PeterNeumann', '')],
    ['a space in the name', VKEY.replace('PeterNeumann', 'Peter Neumann')],
    ['a newline at the end', `${VKEY}\n`],
    ['nothing', ''],
    ['a private key', `PRIVATE+KEY+${VKEY}`],
  ])('is refused with %s', (_, text) => {
    expect(parseVkey(text).ok).toBe(false);
  });
});
