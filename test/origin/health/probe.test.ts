import { describe, expect, it } from 'vitest';
import { type ProbeResult, probe } from '../../../origin/health/probe.ts';
import { PROBE_ANSWER_BYTES } from '../../../origin/health/probe-answer.ts';
import type { ProbeTarget } from '../../../origin/health/probe-plan.ts';
import { err, ok } from '../../../shared/result.ts';
import { settled } from '../../support/manual-clock.ts';
import { type Answer, answer, chat, ProbeDouble, target } from './probe-double.ts';
import { World } from './world.ts';

const noStop = new AbortController().signal;

function asking(how: Answer, more: Partial<ProbeTarget> = {}, stopped: AbortSignal = noStop, departs = true) {
  const world = new World();
  const { clock } = world;
  const call = new ProbeDouble();
  call.answer = how;
  call.departs = departs;
  const departure = world.departure();
  const setup = { target: target('fra', more), call, clock, maxTtftMs: 4_000, departure };
  return { world, clock, call, departure, result: probe(setup, stopped) };
}

const outcome = async (how: Answer, more: Partial<ProbeTarget> = {}): Promise<ProbeResult['outcome']> =>
  (await asking(how, more).result).outcome;

async function* hanging() {
  yield Buffer.from('{');
  await new Promise(() => undefined);
}

const never: Answer = () => new Promise(() => undefined);

describe('a probe', () => {
  it('asks for a short completion with the tokens of its endpoint and nothing of anybody', async () => {
    const { call, result } = asking(answer(200, chat()), {
      tokens: 32,
      tokensMember: 'max_completion_tokens',
    });
    await result;
    expect(call.sent.map(({ request }) => [request.route, JSON.parse(request.body)])).toEqual([
      [
        '/v1/chat/completions',
        {
          model: 'a-model-20260101',
          messages: [{ role: 'user', content: 'Reply with the word: ok' }],
          max_completion_tokens: 32,
          stream: false,
        },
      ],
    ]);
  });

  it('speaks the Anthropic API where the endpoint does', async () => {
    const message = {
      type: 'message',
      content: [],
      stop_reason: 'max_tokens',
      usage: { input_tokens: 8, output_tokens: 16 },
    };
    const { call, result } = asking(answer(200, message), { api: 'anthropic' });
    expect(await result).toMatchObject({ outcome: { kind: 'success' }, inputTokens: 8, outputTokens: 16 });
    expect(call.sent[0]?.request.route).toBe('/v1/messages');
    expect(JSON.parse(call.sent[0]?.request.body ?? '')).toMatchObject({ max_tokens: 16 });
  });

  it('takes "stopped by length" without a word for alive, as reasoning models answer', async () => {
    expect(await outcome(answer(200, chat('length', null)))).toEqual({ kind: 'success' });
  });

  it.each([
    ['an empty choice', chat(null, null)],
    ['no choice', { choices: [] }],
    ['an error in a 200', { error: { message: 'overloaded' } }],
    ['no JSON', ['<html>']],
  ])('takes %s for a failure', async (_, body) => {
    expect(await outcome(answer(200, body))).toEqual({
      kind: 'failure',
      why: 'probe failing: its answer is no completion',
    });
  });

  it('counts its tokens as the endpoint does, and none where it gives no count', async () => {
    expect(await asking(answer(200, chat())).result).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    const { usage: _, ...bare } = chat();
    expect(await asking(answer(200, bare)).result).toMatchObject({
      outcome: { kind: 'success' },
      inputTokens: null,
      outputTokens: null,
    });
  });

  it('reads no answer beyond its bound, and no body of an error at all', async () => {
    const read = { chunks: 0 };
    const chunk = ' '.repeat(PROBE_ANSWER_BYTES / 4);
    expect(await outcome(answer(200, Array(1_000).fill(chunk), {}, read))).toMatchObject({ kind: 'failure' });
    expect(read.chunks).toBe(5);
    const unread = { chunks: 0 };
    await outcome(answer(503, {}, {}, unread));
    expect(unread.chunks).toBe(0);
  });

  it.each([
    [500, { kind: 'failure', why: 'probe failing: answered 500' }],
    [
      401,
      {
        kind: 'credential',
        why: "probe failing: answered 401: the gateway's credential is not accepted there",
      },
    ],
    [429, { kind: 'busy', coolDownMs: 7_000 }],
  ])('tells of the endpoint what its %i tells', async (status, expected) => {
    expect(await outcome(answer(status, {}, { 'retry-after': '7' }))).toEqual(expected);
  });

  it.each([400, 404, 422])('holds %i against itself and not against the endpoint', async (status) => {
    const { result } = asking(answer(status));
    expect(await result).toMatchObject({ outcome: { kind: 'neutral' }, refused: status });
  });

  it('fails where there is no answer, in words of our own', async () => {
    expect(await outcome(async () => err('cannot connect'))).toEqual({
      kind: 'failure',
      why: 'probe failing: cannot connect',
    });
    const secret = () => Promise.reject(new Error('https://host/?key=secret'));
    expect(await outcome(secret)).toEqual({ kind: 'failure', why: 'probe failing: its answer broke off' });
  });

  it('ends within its limit and lets go of the connection, whatever the endpoint does', async () => {
    const { clock, call, result } = asking(never);
    clock.advance(4_000 + 16 * 50 + 5_000);
    expect((await result).outcome).toEqual({
      kind: 'failure',
      why: 'probe failing: no answer within 9800 ms',
    });
    expect(call.sent[0]?.signal.aborted).toBe(true);
    expect(clock.waiting).toBe(0);
  });

  it('lets go of the connection when it has its answer, too', async () => {
    const { call, clock, result } = asking(answer(200, chat()));
    await result;
    expect(call.sent[0]?.signal.aborted).toBe(true);
    expect(clock.waiting).toBe(0);
  });

  it('is slow beyond max_ttft_ms, apart from the time that its further tokens may take', async () => {
    const slowBy = async (ms: number) => {
      const gate = Promise.withResolvers<void>();
      const { clock, result } = asking(() => gate.promise.then(answer(200, chat())));
      clock.advance(ms);
      gate.resolve();
      return (await result).outcome.kind;
    };
    expect(await slowBy(4_100)).toBe('success');
    expect(await slowBy(4_101)).toBe('slow');
  });

  it('takes what its head says of a wrong region, though its body never ends', async () => {
    const evidence = { region: 'us-east-1', source: 'response_header' } as const;
    const { call, result } = asking(async () => ok({ status: 200, headers: {}, body: hanging() }));
    call.evidence = evidence;
    expect(await result).toMatchObject({ outcome: { kind: 'neutral' }, evidence });
    expect(call.sent[0]?.signal.aborted).toBe(true);
  });

  it('tells nothing of the endpoint where no connection takes it in time', async () => {
    const { clock, result } = asking(never, {}, noStop, false);
    clock.advance(4_000 + 16 * 50 + 5_000);
    expect((await result).outcome).toEqual({ kind: 'neutral' });
    expect(clock.waiting).toBe(0);
  });

  it('has its time from when a connection takes it', async () => {
    const gate = Promise.withResolvers<void>();
    const { clock, departure, result } = asking(
      () => gate.promise.then(answer(200, chat())),
      {},
      noStop,
      false,
    );
    clock.advance(9_000);
    departure.left();
    clock.advance(4_000);
    gate.resolve();
    expect((await result).outcome).toEqual({ kind: 'success' });
  });

  it('tells nothing of an endpoint that was taken out before it left', async () => {
    const { world, departure, result } = asking(async () => {
      await settled();
      world.circuits.quarantine('fra', 'elsewhere');
      departure.allowed();
      return err('cannot be reached');
    });
    expect((await result).outcome).toEqual({ kind: 'neutral' });
  });

  it('tells nothing of the endpoint where it is broken off', async () => {
    const stop = new AbortController();
    const { call, result } = asking(never, {}, stop.signal);
    await settled();
    stop.abort();
    expect((await result).outcome).toEqual({ kind: 'neutral' });
    expect(call.sent[0]?.signal.aborted).toBe(true);
  });
});
