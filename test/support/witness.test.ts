import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openCheckpoint } from '../independent/checkpoint.ts';
import { newLogSigner } from '../independent/signer.ts';
import { StaticLog } from '../independent/static-log.ts';
import { type Answered, answerTo } from './calls.ts';
import { startWitness, type TestWitness } from './witness.ts';
import { readSubmission, WitnessBook } from './witness-book.ts';

const ORIGIN = 'log.example/eu';
const NOW = 1_767_225_600_000;
const signer = newLogSigner(ORIGIN);
const entries = Array.from({ length: 20 }, (_, n) => `{"id":"${n}"}`);
const log = new StaticLog(entries, signer);
const forked = new StaticLog(['{"id":"other"}', ...entries.slice(1)], signer);

const bodyOf = (old: number, size: number, of = log): string =>
  `old ${old}\n${of
    .consistency(old, size)
    .map((hash) => `${hash}\n`)
    .join('')}\n${of.checkpoint(size)}`;

let witness: TestWitness;
beforeEach(async () => {
  witness = await startWitness({ name: 'w.example', logs: [signer.vkey], now: () => NOW });
});
afterEach(() => witness.close());

const submit = (body: string): Promise<Answered> => answerTo(witness.url, '/add-checkpoint', { body });

describe('an honest witness', () => {
  it('cosigns what continues what it has seen, and keeps it', async () => {
    for (const [old, size] of [
      [0, 3],
      [3, 3],
      [3, 16],
      [16, 20],
    ] as const) {
      const { status, text } = await submit(bodyOf(old, size));
      expect(status).toBe(200);
      const { cosigned } = await openCheckpoint(log.checkpoint(size) + text, signer.vkey, [witness.vkey]);
      expect([...cosigned]).toEqual([[witness.vkey, NOW / 1_000]]);
      expect(witness.latest(ORIGIN)?.size).toBe(size);
    }
    expect(witness.seen).toHaveLength(4);
    expect(witness.seen[2]).toEqual({ origin: ORIGIN, old: 3, size: 16, status: 200 });
  });

  it('says which size it knows when it is asked to go on from another', async () => {
    await submit(bodyOf(0, 7));
    for (const old of [0, 3, 8]) {
      const { status, text, headers } = await submit(bodyOf(old, 20));
      expect({ status, text }).toEqual({ status: 409, text: '7\n' });
      expect(headers['content-type']).toBe('text/x.tlog.size');
    }
    expect(witness.latest(ORIGIN)?.size).toBe(7);
  });

  it.each<[string, number, () => string]>([
    [
      'a log that it does not know',
      404,
      () => bodyOf(7, 8, new StaticLog(entries, newLogSigner('log.example/us'))),
    ],
    ['a signature by another key', 403, () => bodyOf(7, 8, new StaticLog(entries, newLogSigner(ORIGIN)))],
    ['a checkpoint whose text was changed', 403, () => bodyOf(7, 8).replace('\n8\n', '\n9\n')],
    ['an old size above the new one', 400, () => bodyOf(0, 6).replace('old 0', 'old 7')],
    ['another root at the same size', 409, () => bodyOf(7, 7, forked)],
    ['a rewritten past', 422, () => bodyOf(7, 20, forked)],
    ['no proof', 422, () => `old 7\n\n${log.checkpoint(20)}`],
    ['a proof for another size', 422, () => `${bodyOf(7, 19).split('\n\n')[0]}\n\n${log.checkpoint(20)}`],
    ['a proof of the same tree', 422, () => bodyOf(7, 7).replace('\n', `\n${log.consistency(7, 8)[0]}\n`)],
    ['no old size', 400, () => `\n${log.checkpoint(8)}`],
    ['an old size with a zero before it', 400, () => bodyOf(7, 8).replace('old 7', 'old 07')],
    ['a hash that is too short', 400, () => bodyOf(7, 8).replace('\n', '\nAAEC\n')],
    [
      'too many hashes',
      400,
      () => bodyOf(7, 8).replace('\n', `\n${`${log.consistency(7, 8)[0]}\n`.repeat(63)}`),
    ],
    ['a line without its end', 400, () => bodyOf(7, 8).slice(0, -1)],
    ['more than it reads', 400, () => bodyOf(7, 8) + 'x'.repeat(70_000)],
  ])('refuses %s: %i', async (_, status, body) => {
    await submit(bodyOf(0, 7));
    expect((await submit(body())).status).toBe(status);
    expect(witness.latest(ORIGIN)?.size).toBe(7);
  });

  it('takes no proof where it knows nothing yet', async () => {
    const body = bodyOf(0, 7).replace('\n', `\n${log.consistency(7, 8)[0]}\n`);
    expect((await submit(body)).status).toBe(422);
  });

  it('cosigns one of two checkpoints that come at once, and is not rolled back by the smaller', async () => {
    const book = await WitnessBook.of([signer.vkey]);
    const submissions = [20, 7].map((size) => readSubmission(Buffer.from(bodyOf(0, size))));
    const verdicts = await Promise.all(submissions.map((submission) => book.judge(submission)));
    expect(verdicts).toEqual([{ status: 200 }, { status: 409, size: 20 }]);
    expect(book.latest(ORIGIN)?.size).toBe(20);
  });

  it('starts again from nothing when it has lost its memory', async () => {
    await submit(bodyOf(0, 7));
    witness.forget(ORIGIN);
    expect((await submit(bodyOf(7, 8))).text).toBe('0\n');
  });

  it('answers nothing else', async () => {
    expect((await answerTo(witness.url, '/', { method: 'GET' })).status).toBe(404);
    expect((await answerTo(witness.url, '/add-checkpoint', { method: 'GET' })).status).toBe(405);
  });
});

describe('a witness that is told to be otherwise', () => {
  const open = (text: string) => openCheckpoint(log.checkpoint(7) + text, signer.vkey, [witness.vkey]);

  it('is down, and keeps nothing', async () => {
    witness.become('down');
    await expect(submit(bodyOf(0, 7))).rejects.toThrow();
    expect(witness.latest(ORIGIN)).toBeUndefined();
  });

  it('is cut off after it has kept the checkpoint', async () => {
    witness.become('cut_off');
    await expect(submit(bodyOf(0, 7))).rejects.toThrow();
    expect(witness.latest(ORIGIN)?.size).toBe(7);
  });

  it('is slow: it has kept the checkpoint long before it answers', async () => {
    witness.become('slow');
    const answer = submit(bodyOf(0, 7));
    await expect.poll(() => witness.latest(ORIGIN)?.size).toBe(7);
    await expect.poll(() => witness.seen.length).toBe(1);
    witness.become('honest');
    expect((await open((await answer).text)).cosigned.size).toBe(1);
  });

  it('fails', async () => {
    witness.become('failing');
    expect((await submit(bodyOf(0, 7))).status).toBe(500);
  });

  it('names another size than its own', async () => {
    witness.become({ conflict: 99 });
    expect(await submit(bodyOf(0, 7))).toMatchObject({ status: 409, text: '99\n' });
  });

  it('signs with a key that nobody knows', async () => {
    witness.become('stranger');
    expect((await open((await submit(bodyOf(0, 7))).text)).cosigned.size).toBe(0);
  });

  it('says more than its own signature', async () => {
    witness.become('chatty');
    const { text } = await submit(bodyOf(0, 7));
    expect(text.trim().split('\n')).toHaveLength(2);
    expect((await open(text)).cosigned.size).toBe(1);
  });

  it.each([
    ['forked', 'forged'],
    ['babbling', 'malformed'],
  ] as const)('lies: %s', async (mood, kind) => {
    witness.become(mood);
    await expect(open((await submit(bodyOf(0, 7))).text)).rejects.toMatchObject({ kind });
  });

  it('redirects', async () => {
    witness.become('elsewhere');
    expect((await submit(bodyOf(0, 7))).status).toBe(307);
  });

  it('never stops sending', async () => {
    witness.become('flooding');
    const answer = await fetch(`${witness.url}/add-checkpoint`, { method: 'POST', body: bodyOf(0, 7) });
    let length = 0;
    for await (const chunk of answer.body ?? []) {
      length += chunk.length;
      if (length > 10_000_000) break;
    }
    expect(length).toBeGreaterThan(10_000_000);
  });
});
