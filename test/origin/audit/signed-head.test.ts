import { generateKeyPairSync } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { headFile } from '../../../origin/audit/signed-head.ts';
import type { SequencedRow } from '../../../origin/store/store.ts';
import { signCheckpoint } from '../../../shared/checkpoint.ts';
import { EMPTY_ROOT } from '../../../shared/merkle/hash.ts';
import { PublisherFixture, shortly, signer } from './publisher-fixture.ts';

/** A log with three records under its last checkpoint. */
async function ended(): Promise<PublisherFixture> {
  const t = new PublisherFixture();
  await t.publisher.start();
  await t.append(3);
  await t.publisher.close();
  return t;
}

describe('a log does not go on', () => {
  it('where what was signed last is gone, unless a person vouches for the database', async () => {
    const t = await ended();
    const { note } = t.head;
    t.head.note = undefined;
    await expect(t.restart()).rejects.toThrow(
      /eu\.db\.checkpoint .* is gone.*run "touch eu\.db\.checkpoint"/,
    );
    t.head.note = '';
    await t.restart();
    expect(t.head.note).toBe(note);
  });

  it.each([
    ['is no note', () => 'something else\n'],
    ['was cut', (note: string) => note.slice(0, note.length / 2)],
    ['names another root', (note: string) => note.replace(/^[A-Za-z0-9+/]{4}(?=.*=$)/m, 'AAAA')],
    ['has a signature that does not hold', (note: string) => note.replace(/.{8}\n$/, 'AAAAAAA=\n')],
  ])('where what was signed last %s', async (_, change) => {
    const t = await ended();
    t.head.note = change(t.head.note ?? '');
    await expect(t.restart()).rejects.toThrow(/does not hold the checkpoint that was signed last.*touch/);
  });

  it('under another name', async () => {
    const t = await ended();
    await expect(t.restart({ name: 'log.example/other' })).rejects.toThrow(
      'are of the log log.example/eu, and `log_name` is log.example/other',
    );
  });

  it('beside a checkpoint of another log', async () => {
    const t = await ended();
    const other = { ...signer, name: 'log.example/us' };
    t.head.note = signCheckpoint({ origin: other.name, size: 0, root: EMPTY_ROOT }, other, 1);
    await expect(t.restart()).rejects.toThrow('are of the log log.example/us');
  });

  it.each([
    ['fewer', (rows: SequencedRow[]) => rows.splice(2), 'has 2 records, and a checkpoint over 3'],
    [
      'others',
      (rows: SequencedRow[]) => rows.splice(1, 1, ...rows.slice(0, 1)),
      'the first 3 records of the log are not those',
    ],
  ])('while it runs, once its records are %s, nor when they are back', async (_, change, words) => {
    const t = new PublisherFixture();
    await t.publisher.start();
    await t.append(3);
    await t.pass(30_000);
    const rows = [...t.tables.rows];
    change(t.tables.rows);
    await t.pass(2_000);
    await expect(shortly(t, t.publisher.publish())).rejects.toThrow(words);
    expect(t.publisher.broken).toContain('put back the newest copy');
    t.tables.rows.splice(0, Number.POSITIVE_INFINITY, ...rows);
    await t.append(1);
    await expect(shortly(t, t.publisher.publish())).rejects.toThrow(words);
    await t.pass(120_000);
    expect(t.tables.checkpoints.at(-1)?.size).toBe(3);
    expect(t.said.join('')).toContain('the log must not go on: nothing is forwarded');
  });
});

describe('a log goes on', () => {
  it('with a new key, which signs on from where the old one was', async () => {
    const t = await ended();
    const { privateKey } = generateKeyPairSync('ed25519');
    await t.restart({ privateKey });
    await t.append(2);
    await t.publisher.close();
    await t.restart({ privateKey });
    expect(t.tables.checkpoints.map(({ size }) => size)).toEqual([0, 3, 5]);
  });

  it('with a new key from a checkpoint of the old one that the database never had', async () => {
    const t = await ended();
    const { privateKey } = generateKeyPairSync('ed25519');
    const last = t.tables.checkpoints.pop();
    await t.restart({ privateKey });
    expect(t.head.note).toBe(last?.note);
    t.clock.stepWall(-3_600_000);
    await t.publisher.close();
    expect(t.tables.checkpoints.map(({ size, at }) => [size, at])).toEqual([
      [0, '2028-02-28T21:30:00.000Z'],
      [3, '2028-02-28T21:30:00.000Z'],
    ]);
    t.tables.rows.pop();
    await expect(t.restart({ privateKey })).rejects.toThrow('has 2 records, and a checkpoint over 3');
  });
});

describe('the file', () => {
  it('is for the eyes of the origin alone, and leaves nothing beside it', async () => {
    const folder = await newFolder();
    const head = headFile(join(folder, 'eu.db.checkpoint'));
    for (const note of ['first\n', 'second\n']) await head.write(note);
    expect(await head.read()).toBe('second\n');
    expect(((await stat(head.place)).mode & 0o777).toString(8)).toBe('600');
    expect(await readdir(folder)).toEqual(['eu.db.checkpoint']);
  });

  it('is missed where it is not there, and cannot be written where its folder is not', async () => {
    const folder = join(await newFolder(), 'nowhere');
    const head = headFile(join(folder, 'eu.db.checkpoint'));
    await expect(head.write('note\n')).rejects.toThrow('ENOENT');
    expect(await head.read()).toBeUndefined();
    await mkdir(folder);
    await head.write('note\n');
    expect(await head.read()).toBe('note\n');
  });
});

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'residency-head-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  return folder;
}
