import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { AnswerBody, Piece } from '../../../origin/forward/answer-body.ts';
import { ChunkSource } from '../../../origin/forward/chunks.ts';
import { dialectOf } from '../../../origin/forward/dialect.ts';
import { EventBody } from '../../../origin/forward/event-body.ts';
import { PlainBody } from '../../../origin/forward/plain-body.ts';
import type { ModelRoute } from '../../../shared/routes.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';

const IDLE_MS = 500;
const LIMITS = { idleMs: IDLE_MS, heldBackBytes: 1_000 };

/** An upstream body that the test writes, and what reads it. */
function upstream(make: (chunks: ChunkSource, clock: ManualClock) => AnswerBody) {
  const source = new PassThrough();
  source.on('error', () => undefined);
  const clock = new ManualClock();
  let aborts = 0;
  const abort = () => {
    aborts += 1;
    source.destroy(new Error('aborted'));
  };
  const body = make(new ChunkSource(source, clock, abort), clock);
  return { source, clock, body, aborted: () => aborts > 0 };
}

const events = (route: ModelRoute['path'] = '/v1/chat/completions') =>
  upstream((chunks, clock) => new EventBody(chunks, dialectOf(route), LIMITS, clock));

/** The opening and everything after it as one text, and the end. */
async function whole(body: AnswerBody) {
  let piece = await body.open();
  if ('why' in piece) return piece;
  const bytes: Buffer[] = [piece.bytes];
  for (; piece.end === undefined; bytes.push(piece.bytes)) piece = await body.next();
  return { text: Buffer.concat(bytes).toString(), end: piece.end };
}

const sse = (data: object | string, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
const delta = (content: string, finish: string | null = null): string =>
  sse({ choices: [{ index: 0, delta: { content }, finish_reason: finish }] });
const ROLE = sse({ choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] });
const USAGE = sse({ choices: [], usage: { prompt_tokens: 5, completion_tokens: 7 } });
const DONE = 'data: [DONE]\n\n';
const COMPLETED = { kind: 'completed' };
const BROKEN = { kind: 'interrupted', told: false };

describe('an event stream on its way', () => {
  it('passes on byte for byte, with its usage read', async () => {
    const { source, body, aborted } = events();
    const text = ROLE + delta('Hi\u2028') + delta('', 'stop') + USAGE + DONE;
    source.end(text);
    expect(await whole(body)).toEqual({ text, end: COMPLETED });
    expect(body.usage).toEqual({ inputTokens: 5, outputTokens: 7 });
    body.close();
    await settled();
    expect(aborted()).toBe(false);
  });

  it('holds the beginning back until there is content', async () => {
    const { source, body } = events();
    let opened: Piece | undefined;
    const opening = body.open().then((piece) => {
      if (!('why' in piece)) opened = piece;
    });
    source.write(ROLE);
    source.write(': keep-alive\n\n');
    await settled();
    expect(opened).toBeUndefined();
    source.write(delta('Hi'));
    await opening;
    expect(opened?.bytes.toString()).toBe(`${ROLE}: keep-alive\n\n${delta('Hi')}`);
  });

  it('holds back no more than its limit', async () => {
    const { source, body } = events();
    source.write(`: ${'x'.repeat(LIMITS.heldBackBytes)}\n\n`);
    expect(await body.open()).toMatchObject({ bytes: expect.any(Buffer) });
  });

  it.each([
    ['an error event', ROLE + sse({ error: { message: 'overloaded' } }), 'began with an error event'],
    ['a bare terminator', ROLE + DONE, 'ended before any content'],
    ['nothing', '', 'ended before any content'],
  ])('comes to nothing with %s before any content', async (_, text, why) => {
    const { source, body } = events();
    source.end(text);
    expect(await body.open()).toEqual({ why: expect.stringContaining(why) });
  });

  it('counts an empty answer with a finish reason as an answer', async () => {
    const { source, body } = events();
    source.end(ROLE + delta('', 'stop') + DONE);
    expect(await whole(body)).toMatchObject({ end: COMPLETED });
  });

  it('passes on nothing behind an error event, least of all a terminator', async () => {
    const { source, body } = events();
    const error = sse({ error: { message: 'overloaded' } });
    source.end(delta('Hi') + error + DONE);
    expect(await whole(body)).toEqual({
      text: delta('Hi') + error,
      end: { kind: 'interrupted', told: true },
    });
  });

  it('is broken where it ends or is cut without its end, and drops the half event', async () => {
    for (const cut of [false, true]) {
      const { source, body } = events();
      source.write(delta('Hi'));
      const opening = await body.open();
      source.write('data: {"choices":[{"del');
      await settled();
      if (cut) source.destroy(new Error('cut'));
      else source.end();
      expect(opening).toEqual({ bytes: Buffer.from(delta('Hi')) });
      let last = await body.next();
      while (last.end === undefined) last = await body.next();
      expect([last.bytes.toString(), last.end]).toEqual(['', BROKEN]);
    }
  });

  it('closes an event that is too long to be held before another can follow', async () => {
    const { source, body } = events();
    source.write(delta('Hi'));
    await body.open();
    source.write(`data: ${'x'.repeat(5 * 1024 * 1024)}`);
    for (let bytes = 0; bytes < 4 * 1024 * 1024; ) bytes += (await body.next()).bytes.length;
    source.destroy(new Error('cut'));
    let last = await body.next();
    while (last.end === undefined) last = await body.next();
    expect([last.bytes.toString(), last.end]).toEqual(['\n\n', BROKEN]);
  });

  it('gets the terminator that its endpoint left out, at its end or after a short grace', async () => {
    const text = delta('Hi') + delta('', 'stop');
    const ended = events();
    ended.source.end(text);
    expect(await whole(ended.body)).toEqual({ text: text + DONE, end: COMPLETED });

    const silent = events();
    silent.source.write(text);
    await silent.body.open();
    const last = silent.body.next();
    await settled();
    silent.clock.advance(2_000);
    expect(await last).toEqual({ bytes: Buffer.from(DONE), end: COMPLETED });
    expect(silent.aborted()).toBe(true);
  });

  it('gives no new grace for keep-alive comments after the finish', async () => {
    const { source, body, clock } = events();
    source.write(delta('Hi') + delta('', 'stop'));
    await body.open();
    let piece: Piece = { bytes: Buffer.alloc(0) };
    for (let turn = 0; piece.end === undefined && turn < 10; turn += 1) {
      const next = body.next();
      await settled();
      clock.advance(900);
      source.write(': still here\n\n');
      piece = await next;
    }
    expect(piece.end).toEqual(COMPLETED);
  });

  it('is broken by silence, for longer than its limit only', async () => {
    const { source, body, clock, aborted } = events();
    source.write(delta('Hi'));
    await body.open();
    const next = body.next();
    await settled();
    clock.advance(IDLE_MS - 1);
    await settled();
    expect(aborted()).toBe(false);
    clock.advance(1);
    expect((await next).end).toEqual(BROKEN);
    expect(aborted()).toBe(true);
  });

  it('ends with the connection where its API marks no end', async () => {
    const { source, body } = events('/v1/audio/speech');
    const text = sse({ type: 'speech.audio.delta', audio: 'AA' }, 'speech.audio.delta');
    source.end(text);
    expect(await whole(body)).toEqual({ text, end: COMPLETED });
  });

  it('lets a well-ended upstream run off for a moment, and no longer', async () => {
    const { source, body, clock, aborted } = events();
    source.write(delta('Hi') + DONE);
    await body.open();
    body.close();
    await settled();
    expect(aborted()).toBe(false);
    clock.advance(2_000);
    await settled();
    expect(aborted()).toBe(true);
    expect(clock.waiting).toBe(0);
  });

  it('reads the usage of messages from where each count stands', async () => {
    const { source, body } = events('/v1/messages');
    source.end(
      sse({ type: 'message_start', message: { usage: { input_tokens: 9, output_tokens: 1 } } }) +
        sse({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hi' } }) +
        sse({ type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 4 } }) +
        sse({ type: 'message_stop' }),
    );
    await whole(body);
    expect(body.usage).toEqual({ inputTokens: 9, outputTokens: 4 });
  });
});

describe('a plain answer on its way', () => {
  const plain = (json = true) => upstream((chunks) => new PlainBody(chunks, { json, idleMs: IDLE_MS }));

  it('passes on as it comes, with its usage read wherever it is cut', async () => {
    const text = JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } });
    const { source, body } = plain();
    for (const byte of Buffer.from(text)) source.write(Buffer.of(byte));
    source.end();
    expect(await whole(body)).toEqual({ text, end: COMPLETED });
    expect(body.usage).toEqual({ inputTokens: 3, outputTokens: 4 });
  });

  it('guesses no usage where there is none, or none that counts', async () => {
    const usages = [
      '{"usage":null}',
      '{"usage":{"prompt_tokens":-1}}',
      '{"usage":"many"}',
      '{}',
      '["usage"]',
    ];
    for (const text of usages) {
      const { source, body } = plain();
      source.end(text);
      await whole(body);
      expect(body.usage).toEqual({ inputTokens: null, outputTokens: null });
    }
  });

  it('keeps the counts that are good beside one that is not', async () => {
    const { source, body } = plain();
    source.end('{"usage":{"prompt_tokens":"3","completion_tokens":4}}');
    await whole(body);
    expect(body.usage).toEqual({ inputTokens: null, outputTokens: 4 });
  });

  it('comes to nothing where it breaks before its first byte', async () => {
    const { source, body } = plain();
    source.destroy(new Error('cut'));
    expect(await body.open()).toEqual({ why: 'the connection broke before the answer' });
  });

  it('is broken by a cut or by silence after it', async () => {
    const silent = plain();
    silent.source.write('{');
    await silent.body.open();
    const next = silent.body.next();
    await settled();
    silent.clock.advance(IDLE_MS);
    expect((await next).end).toEqual(BROKEN);
    expect(silent.aborted()).toBe(true);
  });

  it('ends the upstream call of an answer that nobody wants, and leaves an ended one alone', async () => {
    const unwanted = plain();
    unwanted.source.write('{');
    await unwanted.body.open();
    unwanted.body.close();
    expect(unwanted.aborted()).toBe(true);
    const read = plain();
    read.source.end('{}');
    await whole(read.body);
    read.body.close();
    expect(read.aborted()).toBe(false);
  });
});
