import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { checkConsistency, checkTlogProof, readLog } from './reader.ts';
import { newLogSigner, newWitnessSigner } from './signer.ts';
import { StaticLog, serve } from './static-log.ts';
import { type FetchPath, tilePath } from './tiles.ts';

const ORIGIN = 'log.example/eu';
const signer = newLogSigner(ORIGIN);
const { vkey } = signer;
const entry = (n: number): string => `{"id":"${n}","kind":"served"}`;
const entries = (count: number): string[] => Array.from({ length: count }, (_, n) => entry(n));
const logOf = (count: number): StaticLog => new StaticLog(entries(count), signer);

type Files = Map<string, Uint8Array>;

/** The text of a file with one part of it replaced, which must be there. */
function edit(files: Files, path: string, from: string, to: string): void {
  const text = Buffer.from(files.get(path) ?? '').toString('latin1');
  expect(text).toContain(from);
  files.set(path, Buffer.from(text.replace(from, to), 'latin1'));
}

function flip(files: Files, path: string, at: number): void {
  const bytes = Buffer.from(files.get(path) ?? '');
  expect(bytes.length).toBeGreaterThan(at);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  files.set(path, bytes);
}

const copy = (files: Files, from: string, to: string, source = files): unknown =>
  files.set(to, source.get(from) ?? Buffer.of());

describe('the reader of a log', () => {
  it.each([0, 1, 2, 3, 255, 256, 257, 511, 512, 700])(
    'reads a log of %i records to its end',
    async (size) => {
      const log = logOf(size);
      const read = await readLog(serve(log.files()), vkey);
      expect(read.size).toBe(size);
      expect(read.origin).toBe(ORIGIN);
      expect(read.leaves.map((leaf) => leaf.entry)).toEqual(log.entries);
      expect(read.leaves.map(({ hash }) => Buffer.from(hash))).toEqual(log.leaves);
    },
  );

  it('reads a log of three levels, and asks for nothing that such a log does not have', async () => {
    const size = 65_536 + 256 + 1;
    const files = logOf(size).files();
    const asked = new Set<string>();
    const fetchPath: FetchPath = (path) => {
      asked.add(path);
      return serve(files)(path);
    };
    expect((await readLog(fetchPath, vkey)).leaves).toHaveLength(size);
    expect(asked).toEqual(new Set(files.keys()));
    expect(asked).toContain('tile/2/000.p/1');
  }, 120_000);

  it('takes the full tile where the log has dropped the partial one', async () => {
    const files = logOf(300).files();
    const early = logOf(300).checkpoint(200);
    files.set('checkpoint', Buffer.from(early));
    expect((await readLog(serve(files), vkey)).leaves).toHaveLength(200);
  });

  it('says which witnesses have cosigned, and ignores everyone else', async () => {
    const [known, stranger, absent] = ['w1.example', 'w2.example', 'w3.example'].map(newWitnessSigner);
    const log = logOf(3);
    const files = log.files();
    const lines = [known?.sign(log.text(), 1_700_000_000), stranger?.sign(log.text(), 5)];
    files.set('checkpoint', Buffer.from(log.checkpoint() + lines.join('')));
    const witnesses = [known?.vkey ?? '', absent?.vkey ?? ''];
    const { cosigned } = await readLog(serve(files), vkey, witnesses);
    expect([...cosigned]).toEqual([[known?.vkey, 1_700_000_000]]);
  });

  it.each([
    [0, '000'],
    [999, '999'],
    [1_000, 'x001/000'],
    [1_234_067, 'x001/x234/067'],
  ])('knows the path of tile %i', (index, path) => {
    expect(tilePath(3, index, 256)).toBe(`tile/3/${path}`);
    expect(tilePath('entries', index, 7)).toBe(`tile/entries/${path}.p/7`);
  });
});

describe('a log that was changed is found out', () => {
  const strange = newLogSigner(ORIGIN);
  const witness = newWitnessSigner('w.example');
  const resigned = (files: Files, text: string): unknown =>
    files.set('checkpoint', Buffer.from(`${text}\n${signer.sign(text)}`));
  const forge = (files: Files): void => {
    const other = new StaticLog([...entries(7), '{"id":"other"}', ...entries(300).slice(8)], signer).files();
    for (const path of ['tile/0/000', 'tile/entries/000']) copy(files, path, path, other);
  };
  const withEntry = (files: Files, changed: string): void => {
    const log = new StaticLog([...entries(299), changed], signer);
    files.clear();
    for (const [path, bytes] of log.files()) files.set(path, bytes);
  };

  it.each<[string, string, (files: Files) => unknown]>([
    ['one letter of a record', 'wrong_hash', (f) => edit(f, 'tile/entries/000', '"id":"7"', '"id":"8"')],
    ['a record and its leaf hash', 'wrong_hash', (f) => flip(f, 'tile/0/000', 40)],
    ['a record together with its leaf hash', 'wrong_hash', (f) => forge(f)],
    [
      'a byte after the last record',
      'malformed',
      (f) =>
        f.set(
          'tile/entries/001.p/44',
          Buffer.concat([f.get('tile/entries/001.p/44') ?? Buffer.of(), Buffer.of(0)]),
        ),
    ],
    ['a leaf hash of the last tile', 'wrong_hash', (f) => flip(f, 'tile/0/001.p/44', 0)],
    ['a hash of a higher level', 'wrong_hash', (f) => flip(f, 'tile/1/000.p/1', 9)],
    ['two records changed places', 'wrong_hash', (f) => edit(f, 'tile/entries/000', '"1"', '"2"')],
    ['a tile that is gone', 'missing', (f) => f.delete('tile/0/000')],
    ['a higher tile that is gone', 'missing', (f) => f.delete('tile/1/000.p/1')],
    ['records that are gone', 'missing', (f) => f.delete('tile/entries/001.p/44')],
    ['a tile of half a hash', 'malformed', (f) => f.set('tile/0/000', Buffer.alloc(8_191))],
    [
      'a full tile under the name of a partial one',
      'malformed',
      (f) => copy(f, 'tile/0/000', 'tile/0/001.p/44'),
    ],
    [
      'a bundle with a byte too many',
      'malformed',
      (f) => edit(f, 'tile/entries/000', '{"id":"0"', '{"id":"00"'),
    ],
    ['a bundle of another width', 'malformed', (f) => copy(f, 'tile/entries/000', 'tile/entries/001.p/44')],
    ['a smaller size under the old signature', 'forged', (f) => edit(f, 'checkpoint', '\n300\n', '\n299\n')],
    [
      'the signature of another key',
      'unsigned',
      (f) => f.set('checkpoint', Buffer.from(new StaticLog(entries(300), strange).checkpoint())),
    ],
    ['no signature', 'malformed', (f) => f.set('checkpoint', Buffer.from(`${logOf(300).text()}\n`))],
    [
      'a checkpoint of another log',
      'other_log',
      (f) => resigned(f, logOf(300).text().replace(ORIGIN, 'log.example/us')),
    ],
    [
      'a log whose name only begins like this one',
      'other_log',
      (f) => resigned(f, logOf(300).text().replace(ORIGIN, `${ORIGIN}/2`)),
    ],
    [
      'a size with a leading zero',
      'malformed',
      (f) => resigned(f, logOf(300).text().replace('\n300\n', '\n0300\n')),
    ],
    ['a size in hex', 'malformed', (f) => resigned(f, logOf(300).text().replace('\n300\n', '\n0x12c\n'))],
    ['a root with junk in it', 'malformed', (f) => resigned(f, logOf(300).text().replace(/=\n$/, '!=\n'))],
    [
      'an empty line in the checkpoint',
      'malformed',
      (f) => resigned(f, logOf(300).text().replace('\n300\n', '\n300\n\n')),
    ],
    ['an empty line after the root', 'malformed', (f) => resigned(f, `${logOf(300).text()}\n`)],
    [
      'a carriage return in the checkpoint',
      'malformed',
      (f) => edit(f, 'checkpoint', '\n300\n', '\r\n300\n'),
    ],
    [
      'a root that the tiles do not lead to',
      'wrong_hash',
      (f) => resigned(f, new StaticLog([...entries(299), '{}'], signer).text()),
    ],
    [
      'more leaves than anyone reads',
      'too_large',
      (f) => resigned(f, logOf(300).text().replace('\n300\n', '\n300000000\n')),
    ],
    [
      'a cosignature by a thief',
      'forged',
      (f) => f.set('checkpoint', Buffer.from(logOf(300).checkpoint() + witness.sign(logOf(299).text(), 7))),
    ],
    ['a record with white space', 'not_canonical', (f) => withEntry(f, '{"id": "1"}')],
    ['a record whose members are out of order', 'not_canonical', (f) => withEntry(f, '{"b":1,"a":2}')],
    ['a record that has a member twice', 'not_canonical', (f) => withEntry(f, '{"a":1,"a":1}')],
    ['a record with a number in another form', 'not_canonical', (f) => withEntry(f, '{"a":1.0}')],
    ['a record with half a surrogate pair', 'not_canonical', (f) => withEntry(f, '{"a":"\\ud800"}')],
    ['a record that is no object', 'malformed', (f) => withEntry(f, '[1]')],
    ['a record that is no JSON', 'malformed', (f) => withEntry(f, '{"a":')],
  ])('%s: %s', async (_, kind, change) => {
    const files = logOf(300).files();
    await readLog(serve(files), vkey);
    change(files);
    await expect(readLog(serve(files), vkey, [witness.vkey])).rejects.toMatchObject({ kind });
  });

  it('a key whose id is of another key', async () => {
    const [name, , material] = vkey.split('+');
    const read = readLog(serve(logOf(1).files()), `${name}+00000000+${material}`);
    await expect(read).rejects.toMatchObject({ kind: 'malformed' });
  });
});

describe('a tlog-proof', () => {
  const log = logOf(70);

  it('proves each record of trees of many sizes, and no other record or place', async () => {
    const sizes = fc
      .integer({ min: 1, max: 70 })
      .chain((size) =>
        fc.record({ size: fc.constant(size), index: fc.nat(size - 1), other: fc.nat(size - 1) }),
      );
    await fc.assert(
      fc.asyncProperty(sizes, async ({ size, index, other }) => {
        const proof = log.proof(index, size);
        expect(await checkTlogProof(proof, vkey, entry(index))).toMatchObject({
          index,
          checkpoint: { size },
        });
        if (other === index) return;
        await expect(checkTlogProof(proof, vkey, entry(other))).rejects.toMatchObject({
          kind: 'not_included',
        });
        const moved = proof.replace(`index ${index}\n`, `index ${other}\n`);
        await expect(checkTlogProof(moved, vkey, entry(index))).rejects.toMatchObject({
          kind: 'not_included',
        });
      }),
    );
  });

  it('may carry extra data, which is not looked at', async () => {
    const proof = log.proof(3).replace('index', 'extra AAEC\nindex');
    expect((await checkTlogProof(proof, vkey, entry(3))).index).toBe(3);
  });

  it('of the last record is good for no index beyond it', async () => {
    for (const beyond of [70, 71, 128, 197]) {
      const moved = log.proof(69).replace('index 69', `index ${beyond}`);
      await expect(checkTlogProof(moved, vkey, entry(69))).rejects.toMatchObject({ kind: 'not_included' });
    }
  });

  const [first = ''] = log.proof(3).split('\n').slice(2);
  it.each<[string, string, (proof: string) => string]>([
    ['of another version', 'malformed', (proof) => proof.replace('@v1', '@v2')],
    ['without its index', 'malformed', (proof) => proof.replace('index 3\n', '')],
    ['whose index has another name', 'malformed', (proof) => proof.replace('index', 'place')],
    ['whose index has a zero before it', 'malformed', (proof) => proof.replace('index 3', 'index 03')],
    ['of a place outside the tree', 'not_included', (proof) => proof.replace('index 3', 'index 70')],
    ['of a place in the next tree', 'not_included', (proof) => proof.replace('index 3', 'index 131')],
    ['with a hash too few', 'not_included', (proof) => proof.replace(`${first}\n`, '')],
    ['with a hash too many', 'not_included', (proof) => proof.replace(first, `${first}\n${first}`)],
    ['with a shorter hash', 'malformed', (proof) => proof.replace(first, 'AAEC')],
    [
      'with a hash in another alphabet',
      'malformed',
      (proof) => proof.replace(first, first.replace(/=$/, '-')),
    ],
    ['with extra data that is none', 'malformed', (proof) => proof.replace('index', 'extra !\nindex')],
    ['without a checkpoint', 'malformed', (proof) => proof.slice(0, proof.indexOf('\n\n'))],
    [
      'under a checkpoint of another size',
      'not_included',
      (proof) => proof.slice(0, proof.indexOf('\n\n') + 2) + log.checkpoint(69),
    ],
  ])('%s: %s', async (_, kind, change) => {
    await expect(checkTlogProof(change(log.proof(3)), vkey, entry(3))).rejects.toMatchObject({ kind });
  });
});

describe('two checkpoints', () => {
  let log: StaticLog;
  let fetchPath: FetchPath;
  beforeAll(() => {
    log = logOf(700);
    fetchPath = serve(log.files());
  });

  it('of one log are consistent at every pair of sizes', async () => {
    const pair = fc.tuple(fc.nat(700), fc.nat(700)).map((sizes) => sizes.toSorted((a, b) => a - b));
    await fc.assert(
      fc.asyncProperty(pair, async ([older, newer]) => {
        await checkConsistency(log.checkpoint(older), log.checkpoint(newer), vkey, serve(log.files(newer)));
      }),
      { numRuns: 40 },
    );
  });

  it.each([1, 255, 256, 257, 512, 699, 700])(
    'differ when a record before the first %i was rewritten',
    async (size) => {
      const rewritten = new StaticLog(['{"id":"other"}', ...entries(700).slice(1)], signer);
      const check = checkConsistency(rewritten.checkpoint(size), log.checkpoint(), vkey, fetchPath);
      await expect(check).rejects.toMatchObject({ kind: 'inconsistent' });
    },
  );

  it('differ when the empty one has a root that is not of an empty tree', async () => {
    const text = log.text(0).replace(/[^\n]+=\n$/, `${log.leaves[0]?.toString('base64')}\n`);
    expect(text).not.toBe(log.text(0));
    const check = checkConsistency(`${text}\n${signer.sign(text)}`, log.checkpoint(), vkey, fetchPath);
    await expect(check).rejects.toMatchObject({ kind: 'inconsistent' });
  });

  it('differ when the log has become shorter', async () => {
    const check = checkConsistency(log.checkpoint(), log.checkpoint(699), vkey, serve(log.files(699)));
    await expect(check).rejects.toMatchObject({ kind: 'inconsistent' });
  });

  it('differ when the tiles are of a third tree', async () => {
    const third = serve(new StaticLog(['{"id":"other"}', ...entries(700).slice(1)], signer).files());
    const check = checkConsistency(log.checkpoint(300), log.checkpoint(), vkey, third);
    await expect(check).rejects.toMatchObject({ kind: 'inconsistent' });
  });
});
