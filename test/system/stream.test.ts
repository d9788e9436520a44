import { once } from 'node:events';
import { appendFile, readFile, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LineSink } from '../../origin/cli/line-sink.ts';
import { forward } from '../../origin/cli/stream-page.ts';
import { canonicalJson } from '../../shared/canonical.ts';
import { chat } from '../support/calls.ts';
import { type CommandFolder, commandFolder } from '../support/command.ts';
import { callOrigin, type DirectOrigin, startDirect } from '../support/direct.ts';
import { ADMIN_TOKEN } from '../support/zone.ts';

let direct: DirectOrigin;
let folder: CommandFolder;

const call = async (id: string) => {
  const answer = await callOrigin(direct, '/v1/chat/completions', {
    headers: { 'x-request-id': id },
    body: chat('support-chat'),
  });
  await answer.body.dump();
};

beforeAll(async () => {
  direct = await startDirect();
  folder = await commandFolder({ eu: direct.zone });
  await call('one');
});
afterAll(async () => {
  await folder?.remove();
  await direct?.zone.close();
});

const path = (name: string) => join(folder.path, name);
const textOf = (name: string) => readFile(path(name), 'utf8').catch(() => '');
const stream = (out: string, cursor: string) =>
  folder.residency('audit', 'stream', '--out', out, '--cursor', cursor);

/** What the whole log is as lines. */
const wholeLog = async () =>
  (await direct.zone.records()).map((record) => `${canonicalJson(record)}\n`).join('');

describe('residency audit stream', () => {
  it('writes every record in order, and next time those that have come since', async () => {
    expect(await stream('archive.jsonl', 'cursor')).toMatchObject({ code: 0, stderr: '' });
    expect(await textOf('archive.jsonl')).toBe(await wholeLog());
    await call('two');
    await stream('archive.jsonl', 'cursor');
    expect(await textOf('archive.jsonl')).toBe(await wholeLog());
  });

  it('writes to standard output too', async () => {
    const ran = await folder.residency('audit', 'stream', '--cursor', 'piped.cursor');
    expect(ran.stdout).toBe(await wholeLog());
  });

  it('loses nothing where it was killed before its cursor moved, and mends the line that was torn', async () => {
    const cursor = await textOf('cursor');
    await call('three');
    await stream('archive.jsonl', 'cursor');
    await writeFile(path('cursor'), cursor);
    const { size } = await stat(path('archive.jsonl'));
    await truncate(path('archive.jsonl'), size - 10);
    await stream('archive.jsonl', 'cursor');
    const lines = (await textOf('archive.jsonl')).split('\n');
    // Whole lines that came before the crash come again.
    expect([...new Set(lines)].join('\n')).toBe(await wholeLog());
    expect(lines.length).toBeGreaterThan(new Set(lines).size - 1);
  });

  it('does not move its cursor past what could not be written', async () => {
    const { admin } = direct.zone.origin;
    const written: string[] = [];
    const sink = (fault?: Error): LineSink => ({
      failed: fault !== undefined,
      write: async (lines) => {
        expect(await textOf('full.cursor')).toBe('');
        written.push(...lines);
        if (fault !== undefined) throw fault;
      },
      close: () => Promise.resolve(),
    });
    const step = (to: LineSink) => forward({ admin, token: ADMIN_TOKEN }, path('full.cursor'), to);
    await expect(step(sink(new Error('the disk is full')))).rejects.toThrow('the disk is full');
    expect(await textOf('full.cursor')).toBe('');
    expect(await step(sink())).toBe((await direct.zone.records()).length);
    expect(written.join('')).toBe((await wholeLog()).repeat(2));
  });

  it.each([
    [
      'of another log',
      JSON.stringify({ log: 'residency.test/us', after: 3 }),
      'is the cursor of residency.test/us',
    ],
    ['that is none', '{"after":', 'is no cursor'],
    ['whose place is none', JSON.stringify({ log: 'residency.test/eu', after: -7 }), 'is no cursor'],
  ])('does not go on from a cursor %s', async (_, text, says) => {
    await writeFile(path('odd.cursor'), text);
    const ran = await stream('odd.jsonl', 'odd.cursor');
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining(says)]);
    expect([await textOf('odd.cursor'), await textOf('odd.jsonl')]).toEqual([text, '']);
  });

  it('cuts nothing off a file that is not its own', async () => {
    await appendFile(path('notes.txt'), 'my notes');
    const ran = await stream('notes.txt', 'notes.cursor');
    expect([ran.code, ran.stderr]).toEqual([2, expect.stringContaining('name another file')]);
    expect(await textOf('notes.txt')).toBe('my notes');
  });

  it('follows, through a restart of the origin, until it is ended', async () => {
    const following = folder.begin(
      'audit',
      'stream',
      '-f',
      '--out',
      'followed.jsonl',
      '--cursor',
      'f.cursor',
    );
    const isWhole = async () => (await textOf('followed.jsonl')) === (await wholeLog());
    try {
      await expect.poll(isWhole, { timeout: 20_000 }).toBe(true);
      await direct.zone.restart();
      await folder.pointTo({ eu: direct.zone });
      await call('four');
      await expect.poll(isWhole, { timeout: 20_000 }).toBe(true);
    } finally {
      following.kill();
      await once(following, 'exit');
    }
  });
});
