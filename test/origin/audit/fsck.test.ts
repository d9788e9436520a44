import { generateKeyPairSync } from 'node:crypto';
import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canonicalJson } from '../../../shared/canonical.ts';
import { signCheckpoint } from '../../../shared/checkpoint.ts';
import { leafHash } from '../../../shared/merkle/hash.ts';
import { recordSchema } from '../../../shared/record.ts';
import { verifierKey } from '../../../shared/verifier-key.ts';
import { makeLog, type SavedLog } from './fsck-fixture.ts';
import { signer } from './publisher-fixture.ts';

let whole: SavedLog;
let log: SavedLog;

beforeAll(async () => {
  whole = await makeLog();
});
afterAll(() => whole.remove());
beforeEach(async () => {
  log = await whole.copy();
});
afterEach(() => log.remove());

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;
const blob = (bytes: Uint8Array): string => `X'${Buffer.from(bytes).toString('hex')}'`;

/** The record at a place, said otherwise; and the hash of that. */
function otherwise(seq: number, members: object): { readonly canonical: string; readonly leaf: string } {
  const { canonical } = log.ask(`SELECT canonical FROM records WHERE seq = ${seq}`);
  const record = recordSchema.parse({ ...JSON.parse(String(canonical)), ...members });
  const text = canonicalJson(record);
  return { canonical: quoted(text), leaf: blob(leafHash(text)) };
}

describe('a log that is whole', () => {
  it('has no fault, and is counted', async () => {
    expect(await log.check()).toEqual({
      ok: true,
      log: signer.name,
      records: 304,
      pruned: 30,
      checkpoints: expect.any(Number),
      open_calls: 1,
      faults: [],
      more_faults: 0,
    });
  });

  it('has none either while an origin writes, publishes and prunes', async () => {
    const running = await log.open();
    let stop = false;
    const busy = async () => {
      while (!stop) {
        await running.calls(5);
        await running.publish();
        await running.prune();
      }
    };
    const origin = busy();
    for (let times = 0; times < 3; times += 1) expect((await log.check()).faults).toEqual([]);
    stop = true;
    await origin;
    await running.close();
    expect((await log.check()).faults).toEqual([]);
  });

  it('has none where the origin ended between the file and the table', async () => {
    const head = await readFile(log.head, 'utf8');
    const [size = '', root = ''] = head.split('\n').slice(1);
    const checkpoint = { origin: signer.name, size: Number(size), root: Buffer.from(root, 'base64') };
    const later = Date.parse('2027-06-01T00:00:00Z') / 1_000;
    await writeFile(log.head, signCheckpoint(checkpoint, signer, later));
    expect(await log.faults()).toEqual([]);
  });

  it('is known by its earlier key too, where that is named', async () => {
    const other = generateKeyPairSync('ed25519').privateKey;
    const keys = [verifierKey(signer.name, 'ed25519', other), verifierKey(signer.name, 'cosignature', other)];
    const kinds = (await log.check(keys)).faults.map(({ fault }) => fault);
    expect(new Set(kinds)).toEqual(new Set(['signature', 'head']));
  });
});

describe('somebody who has the file and gets round its guards is found out where he', () => {
  it('changes a body', async () => {
    const { canonical } = otherwise(100, { model: 'another' });
    log.tamper(`UPDATE records SET canonical = ${canonical} WHERE seq = 100`);
    expect((await log.check()).faults).toEqual([
      { fault: 'changed', place: 100, record: expect.any(String), reason: expect.any(String) },
    ]);
  });

  it('changes a body and its hash, which every later checkpoint shows', async () => {
    const { canonical, leaf } = otherwise(100, { model: 'another' });
    log.tamper(`UPDATE records SET canonical = ${canonical}, leaf = ${leaf} WHERE seq = 100`);
    expect(await log.faults()).toEqual(['root', 'tile']);
    const [tile, root] = (await log.check()).faults;
    expect(tile).toMatchObject({ fault: 'tile', place: 0 });
    expect(root).toMatchObject({
      fault: 'root',
      reason: expect.stringMatching(/^the first 30[34] records .* the first 3[12] are$/),
    });
  });

  it.each([
    ['changes a hash', ['UPDATE records SET leaf = zeroblob(32) WHERE seq = 300'], ['changed', 'root']],
    ['takes out a record', ['DELETE FROM records WHERE seq = 300'], ['gap']],
    ['cuts the end off', ['DELETE FROM records WHERE seq > 290'], ['open', 'shorter']],
    [
      'lets two records change their places',
      [
        'UPDATE records SET seq = -1 WHERE seq = 298',
        'UPDATE records SET seq = 298 WHERE seq = 299',
        'UPDATE records SET seq = 299 WHERE seq = -1',
      ],
      ['root'],
    ],
    ['gives a record to another tenant', [`UPDATE records SET tenant = 'beta' WHERE seq = 200`], ['column']],
    ['hides a record from its call', [`UPDATE records SET request_id = NULL WHERE seq = 200`], ['column']],
    ['changes a time', [`UPDATE records SET at = '2020-01-01T00:00:00.000Z' WHERE seq = 200`], ['column']],
    ['makes a record unreadable', [`UPDATE records SET kind = 'nothing' WHERE seq = 303`], ['unreadable']],
    [
      'puts no JSON there',
      [`UPDATE records SET canonical = '{', leaf = ${blob(leafHash('{'))} WHERE seq = 303`],
      ['form', 'root'],
    ],
    [
      'empties a record without a pruning',
      ['UPDATE records SET canonical = NULL WHERE seq = 303'],
      ['untold'],
    ],
    [
      'empties one in the name of another record',
      [
        'UPDATE records SET canonical = NULL WHERE seq = 20',
        `UPDATE prunings SET control = (SELECT id FROM records WHERE seq = 303)`,
      ],
      ['untold'],
    ],
    [
      'lets a pruning stand before what tells of it',
      [
        `UPDATE prunings SET last = 40`,
        `UPDATE records SET canonical = NULL, request_id = NULL, pending_id = NULL, tenant = NULL WHERE seq = 40`,
      ],
      ['open', 'undone', 'untold'],
    ],
    ['forgets that a body was dropped', ['DELETE FROM prunings'], ['untold']],
    [
      'brings a body back',
      [`UPDATE records SET canonical = '{}' WHERE seq = 4`],
      ['changed', 'form', 'undone'],
    ],
    ['hides a call without an end', ['DELETE FROM open_pendings'], ['open']],
    [
      'makes an ended call open',
      ['INSERT INTO open_pendings SELECT seq, id FROM records WHERE seq = 299'],
      ['open'],
    ],
    ['takes out a checkpoint', ['DELETE FROM checkpoints WHERE number = 1'], ['order']],
    [
      'takes out the last checkpoint',
      ['DELETE FROM checkpoints WHERE number = (SELECT max(number) FROM checkpoints)'],
      [],
    ],
    [
      'dates a checkpoint back',
      [`UPDATE checkpoints SET at = '2025-01-01T00:00:00.000Z' WHERE number = 2`],
      ['order', 'signature'],
    ],
    ['gives a checkpoint another hour', [`UPDATE checkpoints SET hour = NULL WHERE number = 2`], ['order']],
    [
      'gives a checkpoint another root',
      [`UPDATE checkpoints SET root = zeroblob(32) WHERE number = 2`],
      ['root', 'signature'],
    ],
    [
      'gives a checkpoint another size',
      ['UPDATE checkpoints SET size = size - 1 WHERE number = (SELECT max(number) FROM checkpoints)'],
      ['root', 'signature'],
    ],
    [
      'changes what was signed',
      [
        `UPDATE checkpoints SET note = replace(note, char(10) || '30' || char(10), char(10) || '29' || char(10)) WHERE number = 2`,
      ],
      ['signature'],
    ],
    ['changes an inner hash', ['UPDATE tile_roots SET hash = zeroblob(32)'], ['tile']],
    ['takes out an inner hash', ['DELETE FROM tile_roots'], ['tile']],
    ['puts an inner hash there', ['INSERT INTO tile_roots VALUES (1, 1, zeroblob(32))'], ['tile']],
    ['takes out a policy', ['DELETE FROM policies'], ['policy']],
    [
      'changes a policy',
      [`UPDATE policies SET stream = CAST(replace(CAST(stream AS TEXT), 'EEA', 'DE') AS BLOB)`],
      ['policy'],
    ],
  ])('%s', async (_, changes, faults) => {
    log.tamper(...changes);
    expect(await log.faults()).toEqual(faults);
  });

  it.each([
    ['takes away a guard', 'DROP TRIGGER records_are_only_pruned', /trigger records_are_only_pruned is gone/],
    [
      'blunts a guard',
      'DROP TRIGGER checkpoints_are_not_removed; CREATE TRIGGER checkpoints_are_not_removed BEFORE DELETE ON checkpoints BEGIN SELECT 1; END',
      /not as this program/,
    ],
    [
      'adds something of his own',
      'CREATE TRIGGER mine AFTER INSERT ON records BEGIN DELETE FROM liveness; END',
      /not of this program/,
    ],
  ])('%s', async (_, change, reason) => {
    log.intrude(change);
    const { faults } = await log.check();
    expect(faults).toEqual([{ fault: 'database', reason: expect.stringMatching(reason) }]);
  });

  it('overwrites a page', async () => {
    const file = await open(log.path, 'r+');
    await file.write(Buffer.alloc(4_096, 7), 0, 4_096, 20 * 4_096);
    await file.close();
    expect(await log.faults()).toContain('database');
  });

  it('signs anew with a key of his own', async () => {
    const own = { name: signer.name, privateKey: generateKeyPairSync('ed25519').privateKey };
    const { size, root, at } = log.ask('SELECT size, root, at FROM checkpoints WHERE number = 2');
    if (!(root instanceof Uint8Array)) throw new Error('no root');
    const note = signCheckpoint(
      { origin: own.name, size: Number(size), root },
      own,
      Date.parse(String(at)) / 1_000,
    );
    log.tamper(`UPDATE checkpoints SET note = ${quoted(note)} WHERE number = 2`);
    expect(await log.faults()).toEqual(['signature']);
  });
});

describe('a call', () => {
  it.each([
    ['that ends twice', 'completed'],
    ['that is answered after its end', 'served'],
  ] as const)('%s is named with its place', async (_, kind) => {
    const { id } = log.ask('SELECT id FROM records WHERE seq = 299');
    const open = await log.open();
    await open.write(open.record(kind, { pending_id: String(id) }));
    await open.close();
    expect((await log.check()).faults).toEqual([
      { fault: 'ends', place: 304, record: expect.any(String), reason: expect.stringContaining('299') },
    ]);
  });

  it('that nobody announced is named with its place', async () => {
    const open = await log.open();
    await open.write(open.record('completed', { pending_id: '01JZZZZZZZZZZZZZZZZZZZZZZZ' }));
    await open.close();
    expect(await log.faults()).toEqual(['ends']);
  });
});

describe('the file beside the database', () => {
  it('is missed where it is gone', async () => {
    await rm(log.head);
    expect(await log.faults()).toEqual(['head']);
  });

  it('may be empty, by which a person vouches for the database', async () => {
    await writeFile(log.head, '');
    expect(await log.faults()).toEqual([]);
  });

  it.each([
    ['is not a checkpoint', 'nothing of the kind'],
    ['is older than the table', undefined],
  ])('is a fault where it %s', async (_, text) => {
    const { note } = log.ask('SELECT note FROM checkpoints WHERE number = 1');
    await writeFile(log.head, text ?? String(note));
    expect(await log.faults()).toEqual(['head']);
  });

  it('shows that the database is an older copy', async () => {
    const open = await log.open();
    await open.calls(1);
    await open.publish();
    await open.close();
    const newer = await readFile(log.head);
    await log.remove();
    log = await whole.copy();
    await writeFile(log.head, newer);
    expect(await log.faults()).toEqual(['shorter']);
  });

  it('shows that the log was signed over other records', async () => {
    const forked = { origin: signer.name, size: 304, root: Buffer.alloc(32, 1) };
    await writeFile(log.head, signCheckpoint(forked, signer, Date.parse('2027-06-01T00:00:00Z') / 1_000));
    expect(await log.faults()).toEqual(['root']);
  });
});
