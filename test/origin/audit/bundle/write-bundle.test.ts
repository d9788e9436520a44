import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Collected } from '../../../../origin/audit/bundle/collect.ts';
import { windowOf } from '../../../../origin/audit/bundle/window.ts';
import { writeBundle } from '../../../../origin/audit/bundle/write-bundle.ts';
import { unpack } from '../../../../origin/cli/unpack.ts';
import type { Report } from '../../../../shared/verify/report.ts';
import { verifyBundle } from '../../../../shared/verify/verify.ts';
import { BEGIN, busyLog, iso, SampleLog } from '../../../shared/verify/sample-log.ts';
import { type SampleSource, type Signed, sampleSource } from './sample-source.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'residency-bundle-test-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Seconds after the begin of the sample log. */
const span = (from: number, to: number) => ({ from: iso(BEGIN + from * 1_000), to: iso(BEGIN + to * 1_000) });

interface Written {
  readonly archive: Buffer;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly collected: Collected;
}

async function bundle(
  source: SampleSource,
  times: { from: string; to: string },
  tenant?: string,
  tailMs = 0,
): Promise<Written> {
  const window = await windowOf(source, times, tailMs);
  if (window === undefined) throw new Error('there is no such window');
  const destination = new PassThrough();
  const archived = buffer(destination);
  const options = { createdAt: iso(BEGIN), ...(tenant !== undefined && { tenant }) };
  const collected = await writeBundle(source, window, { destination, folder }, options);
  const archive = await archived;
  const unpacked = await unpack(Readable.from([archive]));
  if (!unpacked.ok) throw new Error(unpacked.error);
  return { archive, files: unpacked.value, collected };
}

const verified = (log: SampleLog, { files }: Written): Report =>
  verifyBundle(files, log.trust({ log: 'residency.example/eu' }), { strict: true });

const textOf = ({ files }: Written): string =>
  [...files].map(([name, bytes]) => `${name}\n${Buffer.from(bytes).toString('utf8')}`).join('\n');

const linesOf = ({ files }: Written, name: string): string[] =>
  Buffer.from(files.get(name) ?? [])
    .toString('utf8')
    .split('\n')
    .slice(0, -1);

/** One checkpoint each few records, of which every second closes an hour. */
const signedEach = (step: number, size: number): Signed[] =>
  Array.from({ length: Math.floor(size / step) + 1 }, (_, index) => ({
    ...{ size: index * step, at: index * step, hour: index % 2 === 1 },
  }));

describe('a bundle of a whole log', () => {
  const log = busyLog();

  it.each([
    ['from its begin to its end', span(-100, log.size)],
    ['from the middle on', span(7, log.size)],
    ['between two checkpoints', span(4, 10)],
    ['that is not over yet', span(0, 10_000)],
  ])('is proven %s', async (_, times) => {
    const source = sampleSource(log, signedEach(3, log.size));
    const written = await bundle(source, times);
    const report = verified(log, written);
    expect(report.faults).toEqual([]);
    expect(report.records.proven).toBe(written.collected.manifest.records);
    expect(report.receipts).toHaveLength(written.collected.manifest.receipts);
  });

  it('goes on after its end, so that no call is left without its own', async () => {
    const short = await bundle(sampleSource(log, signedEach(3, log.size)), span(4, 9));
    expect(verified(log, short).faults).toMatchObject([{ fault: 'unended', request_id: 'call-3' }]);
    const source = sampleSource(log, signedEach(3, log.size));
    const long = await bundle(source, span(4, 9), undefined, source.longestCallMs);
    expect(verified(log, long).faults).toEqual([]);
    expect(long.collected.manifest).toMatchObject({ to: span(4, 9).to, last: { size: 15 } });
  });

  it('holds every record between its two checkpoints and none besides, whatever their clocks say', async () => {
    const written = await bundle(sampleSource(log, signedEach(3, log.size)), span(4, 9));
    const { first, last, from, to } = written.collected.manifest;
    expect([first?.size, last.size, from, to]).toEqual([3, 9, span(4, 9).from, span(4, 9).to]);
    expect(linesOf(written, 'records.jsonl')).toEqual([3, 4, 5, 6, 7, 8].map((place) => log.entry(place)));
  });

  it('has a checkpoint for each hour, beside the first and the last', async () => {
    const signed = [0, 1, 2, 3, 4, 5].map((at) => ({ size: at, at, hour: at === 2 || at === 3 }));
    const written = await bundle(sampleSource(log, signed), span(1, 4));
    const sizes = Buffer.from(written.files.get('checkpoints.txt') ?? [])
      .toString()
      .match(/^\d+$/gm);
    expect(sizes).toEqual(['1', '2', '3', '4']);
    expect(verified(log, written).faults).toEqual([]);
  });

  it('shows that nothing was recorded where nothing was', async () => {
    const signed = [
      { size: 4, at: 4 },
      { size: 4, at: 3_600, hour: true },
      { size: 4, at: 7_200, hour: true },
    ];
    const written = await bundle(sampleSource(log, signed), span(3_600, 7_200));
    expect(verified(log, written)).toMatchObject({
      ok: true,
      records: { proven: 0 },
      checkpoints: { count: 2 },
    });
  });

  it('keeps the leaf where a record was pruned, so that the rest is still proven', async () => {
    const pruned = [0, 1, 2, 3];
    const written = await bundle(sampleSource(log, signedEach(3, log.size), { pruned }), span(-1, log.size));
    const report = verified(log, written);
    expect([report.faults, report.records.pruned, written.collected.pruned]).toEqual([[], 4, 4]);
  });

  it('reads logs of more than a page and a tile in their order, each place once', async () => {
    const long = new SampleLog();
    for (let calls = 0; calls < 500; calls += 1) long.call(`call-${calls}`);
    const source = sampleSource(long, signedEach(300, long.size));
    const written = await bundle(source, span(301, 2_000));
    expect(verified(long, written)).toMatchObject({ ok: true, records: { proven: 1_200 }, faults: [] });
    expect(source.reads).toEqual([
      [300, 1_000],
      [1_300, 200],
    ]);
  });

  it('is the same bytes each time', async () => {
    const [one, other] = [
      await bundle(sampleSource(log, signedEach(3, log.size)), span(3, 9)),
      await bundle(sampleSource(log, signedEach(3, log.size)), span(3, 9)),
    ];
    expect(one.archive.equals(other.archive)).toBe(true);
  });

  it('has the policies that were in force, and none from after', async () => {
    const written = await bundle(sampleSource(log, signedEach(3, log.size)), span(3, 9));
    expect([...written.files.keys()].filter((name) => name.startsWith('policies/'))).toEqual([
      expect.stringMatching(/^policies\/eu-support@1\.0\.0-[0-9a-f]{8}\.yaml$/),
    ]);
  });

  it('names what it could not bring along', async () => {
    const other = new SampleLog();
    other.call('call-1', { policy_version: '9.9.9', policy_sha256: 'e'.repeat(64) });
    const { collected } = await bundle(sampleSource(other, signedEach(3, 3)), span(-1, 3));
    expect(collected.unkept).toEqual(['eu-support@9.9.9']);
  });

  it('tells of a record that is not what was signed, and leaves it to the verifier to name it', async () => {
    const source = sampleSource(log, signedEach(3, log.size));
    const entries: typeof source.entries = async (after, limit) =>
      (await source.entries(after, limit)).map((entry) =>
        entry.seq === 0 && entry.record ? { ...entry, record: { ...entry.record, team: 'other' } } : entry,
      );
    const written = await bundle({ ...source, entries }, span(-1, log.size));
    expect(written.collected.unlike).toBe(1);
    expect(verified(log, written).faults).toContainEqual(
      expect.objectContaining({ fault: 'changed', place: 0, request_id: 'call-1' }),
    );
  });

  it('ends with a checkpoint that enough witnesses have cosigned, where one comes in time', async () => {
    const line = `— witness.example/w1 ${Buffer.alloc(76, 7).toString('base64')}\n`;
    const signed = [
      { size: 3, at: 3 },
      { size: 6, at: 6 },
      { size: 9, at: 9, cosigned: line },
    ];
    const window = await windowOf(sampleSource(log, signed, { quorum: 1 }), span(4, 6));
    expect(window).toMatchObject({ witnessed: true, last: { size: 9 }, to: span(4, 6).to });
    const never = await windowOf(sampleSource(log, signed.slice(0, 2), { quorum: 1 }), span(4, 6));
    expect(never).toMatchObject({ witnessed: false, last: { size: 6 } });
  });

  it('is not made of a time that has not come', async () => {
    expect(await windowOf(sampleSource(log, signedEach(3, 9)), span(9_000, 9_100))).toBeUndefined();
  });

  it('leaves nothing behind on the disk, also where its reader goes away', async () => {
    const source = sampleSource(log, signedEach(3, log.size));
    const window = await windowOf(source, span(0, 9));
    const destination = new PassThrough();
    destination.on('error', () => undefined).destroy(new Error('gone'));
    if (window === undefined) throw new Error('there is no such window');
    await expect(
      writeBundle(source, window, { destination, folder }, { createdAt: iso(BEGIN) }),
    ).rejects.toThrow();
    expect(await readdir(folder)).toEqual([]);
  });
});

describe('a bundle of one tenant', () => {
  const log = busyLog();
  const own = log.records.filter(({ tenant }) => tenant === 'agency-de');

  it('proves each of its records by itself', async () => {
    const written = await bundle(sampleSource(log, signedEach(3, log.size)), span(-1, log.size), 'agency-de');
    const report = verified(log, written);
    expect(report.faults).toEqual([]);
    expect(report).toMatchObject({ scope: 'tenant', tenant: 'agency-de', records: { proven: own.length } });
  });

  it('holds nothing of another tenant, not even a hash or a name', async () => {
    const written = await bundle(sampleSource(log, signedEach(3, log.size)), span(-1, log.size), 'agency-de');
    const text = textOf(written);
    for (const record of log.records) {
      const isOwn = record.tenant === 'agency-de';
      expect(text.includes(record.id)).toBe(isOwn);
      if (!isOwn && record.request_id) expect(text).not.toContain(`"${record.request_id}"`);
    }
    expect(linesOf(written, 'proofs.jsonl').map((line) => JSON.parse(line).type)).not.toContain('leaves');
  });

  it('is whole and proven where the tenant has no record at all', async () => {
    const written = await bundle(sampleSource(log, signedEach(3, log.size)), span(-1, log.size), 'nobody');
    expect(verified(log, written)).toMatchObject({ ok: true, records: { proven: 0 }, faults: [] });
    expect([...written.files.keys()].some((name) => name.startsWith('policies/'))).toBe(false);
  });
});
