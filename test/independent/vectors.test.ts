import { describe, expect, it } from 'vitest';
import { readCanonical } from './canonical.ts';
import { readTreeHead } from './checkpoint.ts';
import { bytesOf, hexOf } from './encoding.ts';
import { Fault } from './fault.ts';
import { COSIGNATURE, cosignedAt, ED25519, parseNote, readVkey, requireSignature } from './note.ts';
import { checkReceipt } from './receipt.ts';
import { newLogSigner, newWitnessSigner } from './signer.ts';
import { mth } from './static-log.ts';
import { hashLeaf, rootOf } from './tree.ts';

describe('vectors that others have published', () => {
  it.each([
    [
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n",
      '— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n',
      'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW',
    ],
    [
      'This is an example message.\n',
      '— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n',
      'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k',
    ],
  ])('the note %j', async (text, line, vkey) => {
    const key = await readVkey(vkey, ED25519);
    const note = parseNote(`${text}\n${line}`);
    expect(note.text).toBe(text);
    await requireSignature(note, key);
    const changed = parseNote(`${text.replace('i', 'I')}\n${line}`);
    await expect(requireSignature(changed, key)).rejects.toMatchObject({ kind: 'forged' });
  });

  it('a checkpoint of a public log, with the cosignature of a public witness', async () => {
    const text =
      'arche2025h1.staging.ct.transparency.dev\n1432088532\nU7WM79jrzyhGZ5/GUBTpM7NzwdyfFx61t3RovgcC4Ro=\n';
    const lines = [
      '— arche2025h1.staging.ct.transparency.dev ui8GwCF1+kWqZrxGdhj4aX3gcw7XUlXQQabg/27lefwhUkzbC3NygNI75MdhL1bfTW9g8Ei59RA23oHP7Ry1k3ZFWwQ=',
      '— witness1.smartit.nu/witness1 pIyCDwAAAABqEiEghIp82KWebrw7/oHQwlTAm3g2RKS4+eebl8eO0WH+/iEcxZ75W3u5hNI7TOQtmJbqmNWVuE0tgh0XwzdZsDsUAQ==',
      '— remora.n621.de 2net5wAAAABqEiEgPlfF3V06o0Y+fHM+J5J9s27wgxxcOVSpZ/2g/KSiXCg9DEZI+aVCIobWX9sXTynk5XeU/zZ0WBxtqB0DrAWfBw==',
    ];
    const vkey = 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2';
    const witness = await readVkey(vkey, COSIGNATURE);
    const signed = `${text}\n${lines.join('\n')}\n`;
    expect(readTreeHead(parseNote(signed).text)).toMatchObject({ size: 1_432_088_532 });
    expect(await cosignedAt(parseNote(signed), witness)).toBe(0x6a122120);
    const changed = cosignedAt(parseNote(signed.replace('1432088532', '42')), witness);
    await expect(changed).rejects.toMatchObject({ kind: 'forged' });
  });

  const LEAVES = [
    '',
    '00',
    '10',
    '2021',
    '3031',
    '40414243',
    '5051525354555657',
    '606162636465666768696a6b6c6d6e6f',
  ];
  it.each([
    [0, 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'],
    [1, '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d'],
    [2, 'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125'],
    [3, 'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77'],
    [4, 'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7'],
    [5, '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4'],
    [6, '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef'],
    [7, 'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c'],
    [8, '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328'],
  ])('the tree of certificate transparency with %i leaves', async (size, root) => {
    const leaves = await Promise.all(LEAVES.slice(0, size).map((hex) => hashLeaf(Buffer.from(hex, 'hex'))));
    expect(hexOf(await rootOf(leaves))).toBe(root);
    expect(mth(leaves.map((leaf) => Buffer.from(leaf))).toString('hex')).toBe(root);
  });

  it('the example of RFC 8785 §3.2.3', () => {
    const sorted = '{"\\r":1,"1":2,"\u0080":3,"\u00f6":4,"\u20ac":5,"\ud83d\ude00":6,"\ufb33":7}';
    expect(readCanonical(bytesOf(sorted))).toHaveProperty('\u20ac', 5);
    const byCodePoint = sorted.replace(/("\ud83d\ude00":6),("\ufb33":7)/, '$2,$1');
    expect(byCodePoint).not.toBe(sorted);
    expect(() => readCanonical(bytesOf(byCodePoint))).toThrow('not_canonical');
  });
});

describe('a signed note', () => {
  const signer = newLogSigner('log.example/eu');

  it('may have empty lines in its text, which ends at the last', async () => {
    const text = 'one\n\ntwo\n';
    const note = parseNote(`${text}\n${signer.sign(text)}`);
    expect(note.text).toBe(text);
    await requireSignature(note, await readVkey(signer.vkey, ED25519));
  });

  it.each([
    ['whose last line does not end', (note: string) => `${note.slice(0, -1)}X`],
    ['with more signatures than anyone reads', (note: string) => note + signer.sign('x\n').repeat(64)],
    ['with a signature line of three words', (note: string) => `${note.slice(0, -1)} x\n`],
    ['with a plain dash', (note: string) => note.replace('—', '-')],
  ])('%s is none', (_, change) => {
    expect(() => parseNote(change(`x\n\n${signer.sign('x\n')}`))).toThrow(Fault);
  });

  it('is not held to be signed by a log because a witness signed it', async () => {
    await expect(readVkey(newWitnessSigner('w').vkey, ED25519)).rejects.toMatchObject({ kind: 'malformed' });
  });
});

describe('a receipt', () => {
  const signer = newLogSigner('log.example/eu');
  const entry = '{"id":"01A","kind":"served","request_id":"r-1"}';
  const claims = async (of = entry) => ({
    iss: 'log.example/eu',
    rid: 'r-1',
    rec: '01A',
    leaf: Buffer.from(await hashLeaf(bytesOf(of))).toString('base64url'),
  });
  const HEADER = { alg: 'EdDSA', typ: 'residency-receipt+jwt', kid: 'k' };
  const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const jws = (header: object, payload: object, by = signer): string => {
    const signed = `${encode(header)}.${encode(payload)}`;
    return `${signed}.${by.signBytes(signed).toString('base64url')}`;
  };

  it('holds for the record that it commits to', async () => {
    const read = await checkReceipt(jws(HEADER, await claims()), signer.vkey, entry);
    expect(read).toMatchObject({ rid: 'r-1', rec: '01A' });
  });

  it.each<[string, string, () => Promise<string>]>([
    ['for another record', 'not_included', async () => jws(HEADER, await claims(`${entry} `))],
    ['of another record id', 'not_included', async () => jws(HEADER, { ...(await claims()), rec: '01B' })],
    ['with a fourth part', 'malformed', async () => `${jws(HEADER, await claims())}.x`],
    ['moved to another call', 'not_included', async () => jws(HEADER, { ...(await claims()), rid: 'r-2' })],
    ['of another log', 'other_log', async () => jws(HEADER, { ...(await claims()), iss: 'log.example/us' })],
    ['by another key', 'forged', async () => jws(HEADER, await claims(), newLogSigner('log.example/eu'))],
    ['without a signature', 'forged', async () => `${encode(HEADER)}.${encode(await claims())}.`],
    ['of another algorithm', 'malformed', async () => jws({ ...HEADER, alg: 'none' }, await claims())],
    ['of another type', 'malformed', async () => jws({ ...HEADER, typ: 'JWT' }, await claims())],
    ['with a critical header', 'malformed', async () => jws({ ...HEADER, crit: ['b64'] }, await claims())],
    ['with padding', 'malformed', async () => `${jws(HEADER, await claims())}==`],
  ])('%s: %s', async (_, kind, receipt) => {
    await expect(checkReceipt(await receipt(), signer.vkey, entry)).rejects.toMatchObject({ kind });
  });
});
