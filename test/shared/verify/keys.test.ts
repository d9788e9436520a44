import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { formatNote, parseNote } from '../../../shared/note.ts';
import { cosignNote } from '../../../shared/note-signature.ts';
import { formatVkey, verifierKey } from '../../../shared/verifier-key.ts';
import { parseTrustedKeys, parseWitnesses, type Trust } from '../../../shared/verify/trust.ts';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { filesOf, partsOf } from './sample-bundle.ts';
import { BEGIN, busyLog, LOG, SampleLog, testKey } from './sample-log.ts';

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'k' };
const parsed = (value: object | string) =>
  parseTrustedKeys(typeof value === 'string' ? value : JSON.stringify(value));

describe('the keys that an auditor trusts', () => {
  it('are read from a JWK, a set of them, or vkeys, with the time in which they are valid', () => {
    expect(parsed({ ...jwk, nbf: 10, exp: 20 })).toMatchObject({
      value: [{ kid: 'k', notBefore: 10_000, notAfter: 19_999 }],
    });
    expect(parsed({ keys: [jwk, { ...jwk, kid: 'l' }] })).toMatchObject({
      value: [{ kid: 'k' }, { kid: 'l' }],
    });
    const vkey = formatVkey(verifierKey(LOG, 'ed25519', publicKey));
    expect(parsed(`# the log of the zone eu\n${vkey}\n`)).toMatchObject({ value: [{ log: LOG }] });
  });

  it.each([
    ['a private key', JSON.stringify({ ...privateKey.export({ format: 'jwk' }), kid: 'k' }), 'private key'],
    [
      'a private key in a set',
      JSON.stringify({ keys: [jwk, privateKey.export({ format: 'jwk' })] }),
      'private key',
    ],
    ['a key of another kind', JSON.stringify({ kty: 'RSA', n: 'x', e: 'AQAB' }), 'no public Ed25519 key'],
    ['a key that is too short', JSON.stringify({ ...jwk, x: 'AAAA' }), 'no public Ed25519 key'],
    ['base64url with junk in it', JSON.stringify({ ...jwk, x: `${jwk.x}=` }), 'no public Ed25519 key'],
    ['a time that is no number', JSON.stringify({ ...jwk, nbf: '10' }), 'no public Ed25519 key'],
    ['one kid twice', JSON.stringify({ keys: [jwk, jwk] }), 'one kid'],
    ['an empty set', JSON.stringify({ keys: [] }), 'no public Ed25519 key'],
    ['no key', '', 'no keys'],
    ['a vkey with another id', 'x+00000000+AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA', 'key id'],
  ])('are not read from a file with %s', (_, text, reason) => {
    expect(parsed(text)).toEqual({ ok: false, error: expect.stringContaining(reason) });
  });
});

describe('a key', () => {
  const whole = async (key = testKey('key-1')) => {
    const log = busyLog(key);
    return { log, files: filesOf(await partsOf(log, { sizes: [0, log.size] })) };
  };
  const kinds = ({ faults }: ReturnType<typeof verifyBundle>) => new Set(faults.map(({ fault }) => fault));

  it('that was not valid yet, or not any more, does not count', async () => {
    for (const validity of [{ notBefore: BEGIN + 86_400_000 }, { notAfter: BEGIN - 1 }]) {
      const { log, files } = await whole(testKey('key-1', validity));
      expect(kinds(verifyBundle(files, log.trust(), { strict: false }))).toContain('key_not_valid');
    }
  });

  it('that was rotated counts for what was signed in its time', async () => {
    const [older, newer] = [
      testKey('key-1', { notAfter: BEGIN + 6_000 }),
      testKey('key-2', { notBefore: BEGIN + 6_000 }),
    ];
    const log = new SampleLog(older);
    log.call('call-1');
    log.call('call-2');
    log.call('call-3');
    const parts = await partsOf(log, { sizes: [0, 6, 9] });
    parts.notes[2] = log.checkpoint(9, BEGIN + 9_000, newer);
    parts.receipts = await Promise.all(
      parts.receipts.map(async (line, index) =>
        index < 2 || typeof line === 'string' ? line : { ...line, receipt: await log.receipt(7, {}, newer) },
      ),
    );
    parts.tlogProofs = new Map(
      [...parts.tlogProofs].map(([name, text]) => [
        name,
        `${text.slice(0, text.indexOf('\n\n'))}\n\n${parts.notes[2] ?? ''}`,
      ]),
    );
    const trust: Trust = { ...log.trust(), keys: [older.trusted, newer.trusted] };
    expect(verifyBundle(filesOf(parts), trust, { strict: true })).toMatchObject({ ok: true, faults: [] });
    const alone: Trust = { ...trust, keys: [{ ...newer.trusted }] };
    expect(kinds(verifyBundle(filesOf(parts), alone, { strict: false }))).toContain('unsigned');
  });

  it('of a log of another name does not count', async () => {
    const { log, files } = await whole();
    const trust = log.trust({
      keys: [{ publicKey: log.key.trusted.publicKey, log: 'residency.example/us' }],
    });
    expect(kinds(verifyBundle(files, trust, { strict: false }))).toContain('unsigned');
    const named = log.trust({ log: 'residency.example/e' });
    expect(kinds(verifyBundle(files, named, { strict: false }))).toEqual(new Set(['other_log']));
  });
});

describe('witnesses', () => {
  const witness = (name: string) => {
    const pair = generateKeyPairSync('ed25519');
    return { name, ...pair, key: verifierKey(name, 'cosignature', pair.publicKey) };
  };
  const [one, two] = [witness('witness.example/one'), witness('witness.example/two')];
  const cosigned = (note: string, by: readonly { name: string; privateKey: typeof privateKey }[]): string => {
    const opened = parseNote(note);
    if (!opened.ok) throw new Error(opened.error);
    const lines = by.map((signer) => cosignNote(opened.value.text, signer, BEGIN / 1_000));
    return formatNote({ ...opened.value, signatures: [...opened.value.signatures, ...lines] });
  };
  const log = busyLog();
  const run = async (by: Parameters<typeof cosigned>[1], trust: Partial<Trust>) => {
    const parts = await partsOf(log, { sizes: [0, log.size] });
    parts.notes[1] = cosigned(parts.notes[1] ?? '', by);
    return verifyBundle(filesOf(parts), log.trust(trust), { strict: false });
  };
  const witnesses = [one.key, two.key];

  it('that cosigned are named', async () => {
    const report = await run([one, two], { witnesses, quorum: 2 });
    expect(report).toMatchObject({ ok: true, faults: [] });
    expect(report.checkpoints.last?.witnesses).toEqual([one.name, two.name]);
  });

  it('that are too few are missed, as is one that signed twice', async () => {
    for (const by of [[], [one], [one, one]]) {
      expect((await run(by, { witnesses, quorum: 2 })).faults).toMatchObject([{ fault: 'unwitnessed' }]);
    }
  });

  it('count once under two names, and the log itself not at all', async () => {
    const again = { name: 'witness.example/again', privateKey: one.privateKey };
    const twice = [one.key, verifierKey(again.name, 'cosignature', one.publicKey)];
    expect((await run([one, again], { witnesses: twice, quorum: 2 })).ok).toBe(false);
    const own = { name: 'witness.example/own', privateKey: log.key.privateKey };
    const itself = [verifierKey(own.name, 'cosignature', log.key.trusted.publicKey)];
    expect((await run([own], { witnesses: itself, quorum: 1 })).ok).toBe(false);
  });

  it('whose line is forged make the checkpoint unusable', async () => {
    const impostor = { name: one.name, privateKey: two.privateKey };
    expect((await run([impostor], { witnesses, quorum: 0 })).ok).toBe(true);
    const parts = await partsOf(log, { sizes: [0, log.size] });
    const earlier = cosigned(log.checkpoint(5), [one]).split('\n').at(-2) ?? '';
    parts.notes[1] += `${earlier}\n`;
    const report = verifyBundle(filesOf(parts), log.trust({ witnesses, quorum: 0 }), { strict: false });
    expect(report.faults).toContainEqual(expect.objectContaining({ fault: 'forged' }));
  });

  it('are read from vkeys for cosignatures alone', () => {
    expect(parseWitnesses(formatVkey(one.key))).toMatchObject({ value: [{ name: one.name }] });
    expect(parseWitnesses(formatVkey(verifierKey('x', 'ed25519', publicKey)))).toMatchObject({ ok: false });
  });
});
