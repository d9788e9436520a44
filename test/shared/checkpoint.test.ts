import { generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { encodeBase64 } from '../../shared/base64.ts';
import {
  type Checkpoint,
  formatCheckpoint,
  isLogName,
  parseCheckpoint,
  signCheckpoint,
} from '../../shared/checkpoint.ts';
import { EMPTY_ROOT, leafHash } from '../../shared/merkle/hash.ts';
import { formatNote, formatSignatureLine, type NoteSignature, parseNote } from '../../shared/note.ts';
import { cosignNote, signNote } from '../../shared/note-signature.ts';
import { type CheckpointKeys, openCheckpoint } from '../../shared/open-checkpoint.ts';
import { type Validity, verifierKey } from '../../shared/verifier-key.ts';

const LOG = 'residency.example/eu';
const AT = 1_772_323_200;
const newKey = (): KeyObject => generateKeyPairSync('ed25519').privateKey;
const [logKey, witnessKey, otherKey] = [newKey(), newKey(), newKey()];

const checkpoint: Checkpoint = { origin: LOG, size: 7, root: leafHash('root') };
const text = formatCheckpoint(checkpoint);
const signed = signCheckpoint(checkpoint, { name: LOG, privateKey: logKey }, AT);

const logKeys = (key: KeyObject, name = LOG, validity: Validity = {}) => [
  verifierKey(name, 'ed25519', key, validity),
  verifierKey(name, 'cosignature', key, validity),
];
const witness = (name: string, key: KeyObject, validity: Validity = {}) =>
  verifierKey(name, 'cosignature', key, validity);
const keys = (over: Partial<CheckpointKeys> = {}): CheckpointKeys => ({
  log: logKeys(logKey),
  witnesses: [],
  ...over,
});

const line = (signature: NoteSignature): string => `${formatSignatureLine(signature)}\n`;
const cosigned = (name: string, privateKey: KeyObject, at = AT + 1): string =>
  line(cosignNote(text, { name, privateKey }, at));
/** A note over any text with these keys, as it is and with the time. */
const noteOver = (body: string, name = LOG, privateKey = logKey): string =>
  formatNote({
    text: body,
    signatures: [signNote(body, { name, privateKey }), cosignNote(body, { name, privateKey }, AT)],
  });

const faultOf = (note: string, trusted = keys()): string => {
  const opened = openCheckpoint(note, trusted);
  return opened.ok ? 'none' : opened.error.fault;
};

describe('a checkpoint that the log signs', () => {
  it('is a note of three lines and two signatures of one key', () => {
    const note = parseNote(signed);
    if (!note.ok) throw new Error(note.error);
    expect(note.value.text).toBe(`${LOG}\n7\n${encodeBase64(checkpoint.root)}\n`);
    const [plain, timed] = note.value.signatures;
    if (plain === undefined || timed === undefined) throw new Error('a signature is missing');
    expect(verify(null, Buffer.from(text), logKey, plain.signature)).toBe(true);
    const stamp = Buffer.from(timed.signature);
    expect(stamp.readBigUInt64BE()).toBe(BigInt(AT));
    const message = Buffer.from(`cosignature/v1\ntime ${AT}\n${text}`);
    expect(verify(null, message, logKey, stamp.subarray(8))).toBe(true);
  });

  it('opens to what was signed and to when', () => {
    const opened = openCheckpoint(signed, keys());
    expect(opened).toMatchObject({ ok: true, value: { checkpoint, at: AT * 1000, cosignatures: [] } });
  });

  it('may be the one of the empty tree', () => {
    const first = signCheckpoint(
      { origin: LOG, size: 0, root: EMPTY_ROOT },
      { name: LOG, privateKey: logKey },
      AT,
    );
    expect(faultOf(first)).toBe('none');
  });

  it.each(['cosignature/v1', 'two words', 'a+b', 'a\nb', ''])(
    'is never signed for a log named %j',
    (origin) => {
      expect(isLogName(origin)).toBe(false);
      const forLog = () =>
        signCheckpoint({ ...checkpoint, origin }, { name: origin, privateKey: logKey }, AT);
      expect(forLog).toThrow(TypeError);
    },
  );

  it('is never signed in the name of another log', () => {
    expect(() =>
      signCheckpoint(checkpoint, { name: 'residency.example/us', privateKey: logKey }, AT),
    ).toThrow();
  });
});

describe('the text of a checkpoint', () => {
  const root = encodeBase64(checkpoint.root);

  it.each([
    ['an extension line', `${LOG}\n7\n${root}\nmore\n`],
    ['an empty line at the end', `${LOG}\n7\n${root}\n\n`],
    ['no newline at the end', `${LOG}\n7\n${root}`],
    ['two lines', `${LOG}\n7\n`],
    ['no name', `\n7\n${root}\n`],
    ['the header of a cosignature for a name', `cosignature/v1\n7\n${root}\n`],
    ['no size', `${LOG}\n\n${root}\n`],
    ['a size in hexadecimal', `${LOG}\n0x7\n${root}\n`],
    ['a size with spaces', `${LOG}\n 7 \n${root}\n`],
    ['a size with leading zeros', `${LOG}\n007\n${root}\n`],
    ['a negative size', `${LOG}\n-7\n${root}\n`],
    ['a size beyond what a number holds', `${LOG}\n9007199254740993\n${root}\n`],
    ['a root that is too short', `${LOG}\n7\n${root.slice(4)}\n`],
    ['a root with junk', `${LOG}\n7\n${root}!\n`],
    ['a root of base64url', `${LOG}\n7\n${Buffer.alloc(32, 0xff).toString('base64url')}=\n`],
  ])('is refused with %s, though the signatures hold', (_, body) => {
    expect(parseCheckpoint(body).ok).toBe(false);
    expect(faultOf(noteOver(body))).not.toBe('none');
  });
});

describe('a checkpoint that somebody shows', () => {
  it('is forged where one byte of the text is altered', () => {
    expect(faultOf(signed.replace('\n7\n', '\n8\n'))).toBe('forged');
  });

  it('is forged where the attested time is altered', () => {
    const [body = '', plain = '', timed = ''] = signed.split(/\n(?=— )/);
    const stamp = Buffer.from(timed.split(' ')[2] ?? '', 'base64');
    stamp[11] = (stamp[11] ?? 0) ^ 1;
    const later = `${body}\n${plain}\n— ${LOG} ${stamp.toString('base64')}\n`;
    expect(faultOf(later)).toBe('forged');
  });

  it('is forged where one of two lines of a known key does not hold', () => {
    const bad = { ...signNote(text, { name: LOG, privateKey: logKey }), signature: Buffer.alloc(64) };
    expect(faultOf(`${signed}${line(bad)}`)).toBe('forged');
  });

  it.each([
    ['too short for a time', Buffer.alloc(8)],
    ['of no length', Buffer.alloc(1)],
    ['of a time past the year 9999', Buffer.alloc(72, 0xff)],
  ])('is forged with a cosignature %s', (_, signature) => {
    const { id } = verifierKey(LOG, 'cosignature', logKey);
    expect(faultOf(`${signed}${line({ name: LOG, keyId: id, signature })}`)).toBe('forged');
  });

  it('does not attest a time past the year 9999 even with a signature that holds', () => {
    const seconds = 253_402_300_800n;
    const stamp = Buffer.alloc(8);
    stamp.writeBigUInt64BE(seconds);
    const valid = sign(null, Buffer.from(`cosignature/v1\ntime ${seconds}\n${text}`), logKey);
    const { id } = verifierKey(LOG, 'cosignature', logKey);
    const late = line({ name: LOG, keyId: id, signature: Buffer.concat([stamp, valid]) });
    expect(faultOf(`${signed}${late}`)).toBe('forged');
  });

  it('is unsigned where another key signed in the name of the log', () => {
    expect(faultOf(noteOver(text, LOG, otherKey))).toBe('unsigned');
  });

  it('is unsigned where the lines have the key ids of the log and another name', () => {
    expect(faultOf(signed.replaceAll(`— ${LOG} `, '— residency.example/uk '))).toBe('unsigned');
  });

  it('is unsigned where only witnesses signed it', () => {
    const note = `${text}\n${cosigned('w.example/1', witnessKey)}`;
    expect(faultOf(note, keys({ witnesses: [witness('w.example/1', witnessKey)] }))).toBe('unsigned');
  });

  it('is unsigned where the log attests no time, or the time alone', () => {
    const signer = { name: LOG, privateKey: logKey };
    expect(faultOf(formatNote({ text, signatures: [signNote(text, signer)] }))).toBe('unsigned');
    expect(faultOf(formatNote({ text, signatures: [cosignNote(text, signer, AT)] }))).toBe('unsigned');
  });

  it('is unsigned where the time comes from another key of the log than the signature', () => {
    const signatures = [
      signNote(text, { name: LOG, privateKey: logKey }),
      cosignNote(text, { name: LOG, privateKey: otherKey }, AT),
    ];
    const both = keys({ log: [...logKeys(logKey), ...logKeys(otherKey)] });
    expect(faultOf(formatNote({ text, signatures }), both)).toBe('unsigned');
  });

  it('is of another log where the key is known under another name than the text has', () => {
    const body = formatCheckpoint({ ...checkpoint, origin: `${LOG}2` });
    expect(faultOf(noteOver(body))).toBe('other_log');
    expect(faultOf(noteOver(formatCheckpoint({ ...checkpoint, origin: LOG.slice(0, -1) })))).toBe(
      'other_log',
    );
  });

  it('is malformed where it is no note', () => {
    expect(faultOf(text)).toBe('malformed');
    expect(faultOf('')).toBe('malformed');
  });

  it('counts only while the key was valid, both ends included', () => {
    const at = AT * 1000;
    const between = (notBefore: number, notAfter: number) =>
      faultOf(signed, keys({ log: logKeys(logKey, LOG, { notBefore, notAfter }) }));
    expect(between(at, at)).toBe('none');
    expect(between(at + 1, at + 2)).toBe('key_not_valid');
    expect(between(at - 2, at - 1)).toBe('key_not_valid');
  });

  it('opens with the one of several keys of the log that signed it', () => {
    const rotated = keys({ log: [...logKeys(otherKey), ...logKeys(logKey)] });
    const opened = openCheckpoint(signed, rotated);
    expect(opened.ok && opened.value.key.raw).toEqual(verifierKey(LOG, 'ed25519', logKey).raw);
  });
});

describe('witnesses of a checkpoint', () => {
  const witnessed = `${signed}${cosigned('w.example/1', witnessKey)}`;
  const cosignaturesOf = (note: string, witnesses: CheckpointKeys['witnesses']) => {
    const opened = openCheckpoint(note, keys({ witnesses }));
    if (!opened.ok) throw new Error(opened.error.reason);
    return opened.value.cosignatures;
  };

  it('are named with the time that each attests', () => {
    const cosignatures = cosignaturesOf(witnessed, [witness('w.example/1', witnessKey)]);
    expect(cosignatures).toEqual([{ name: 'w.example/1', at: (AT + 1) * 1000 }]);
  });

  it('are passed over where nobody trusts them', () => {
    expect(cosignaturesOf(witnessed, [witness('w.example/2', otherKey)])).toEqual([]);
    expect(cosignaturesOf(witnessed, [witness('w.example/1', otherKey)])).toEqual([]);
  });

  it('count once, however often one signs', () => {
    const twice = `${witnessed}${cosigned('w.example/1', witnessKey, AT + 9)}`;
    expect(cosignaturesOf(twice, [witness('w.example/1', witnessKey)])).toHaveLength(1);
  });

  it('count once where one key has two names', () => {
    const twice = `${witnessed}${cosigned('w.example/2', witnessKey)}`;
    const trusted = [witness('w.example/1', witnessKey), witness('w.example/2', witnessKey)];
    expect(cosignaturesOf(twice, trusted)).toHaveLength(1);
  });

  it('do not include the log under another name', () => {
    const own = `${signed}${cosigned('w.example/own', logKey)}`;
    expect(cosignaturesOf(own, [witness('w.example/own', logKey)])).toEqual([]);
  });

  it('do not count with a signature that attests no time', () => {
    const plain = `${signed}${line(signNote(text, { name: 'w.example/1', privateKey: witnessKey }))}`;
    expect(cosignaturesOf(plain, [verifierKey('w.example/1', 'ed25519', witnessKey)])).toEqual([]);
  });

  it('do not count outside the validity of their keys', () => {
    const retired = witness('w.example/1', witnessKey, { notAfter: AT * 1000 });
    expect(cosignaturesOf(witnessed, [retired])).toEqual([]);
  });

  it('make the note a forged one where the line of a trusted one does not hold', () => {
    const other = formatCheckpoint({ ...checkpoint, size: 8 });
    const moved = line(cosignNote(other, { name: 'w.example/1', privateKey: witnessKey }, AT));
    const trusted = keys({ witnesses: [witness('w.example/1', witnessKey)] });
    expect(faultOf(`${signed}${moved}`, trusted)).toBe('forged');
  });
});
