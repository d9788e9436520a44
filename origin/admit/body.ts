import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../../shared/errors.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import { type BodyBudget, Hold } from './body-budget.ts';
import { decodeBody, type Encoding, encodingOf } from './body-encoding.ts';
import type { Call } from './call.ts';

/** A body in memory; `release` gives its bytes back to the budget and may be called more than once. */
export interface HeldBody {
  readonly bytes: Buffer;
  release(): void;
}

/** Slowest upload that is waited for, on average: a trickle would hold memory for as long as it likes. */
const SLOWEST_BYTES_PER_MS = 8;

/** `gone`: the caller hung up, or the process has to end, while the body was still arriving. */
export type BodyFault = Refusal | 'gone';

export interface BodyReader {
  readonly limits: Pick<Limits, 'body_bytes' | 'buffered_body_bytes' | 'body_idle_ms'>;
  readonly budget: BodyBudget;
  readonly clock: Clock;
}

/**
 * Reads a request body whole. `body_too_large` is decided by `content-length` before a byte is read or asked
 * for, or by count where there is none; `gateway_busy` where the process holds too many body bytes already.
 */
export async function readBody(call: Call, reader: BodyReader): Promise<Result<HeldBody, BodyFault>> {
  const { incoming } = call;
  const limit = reader.limits.body_bytes;
  const announced = Number(incoming.headers['content-length'] ?? 0);
  if (announced > limit) return err(tooLarge(limit));
  const encoding = encodingOf(incoming.headers['content-encoding']);
  if (!encoding.ok) return encoding;
  // Bytes count as they come: an announcement alone takes nothing from anybody.
  const hold = new Hold(reader.budget, call.facts.tenant ?? '');
  call.inviteBody();
  const arrived = await collect(incoming, call.stopped, hold, reader);
  const whole =
    arrived.ok && encoding.value !== undefined
      ? await decoded(arrived.value, encoding.value, hold, limit)
      : arrived;
  if (whole.ok) return ok({ bytes: whole.value, release: () => hold.release() });
  hold.release();
  return whole;
}

const tooLarge = (bytes: number): Refusal => ({ code: 'body_too_large', limit: 'body_bytes', bytes });
const BUSY: Refusal = { code: 'gateway_busy', limit: 'buffered_body_bytes' };

function collect(
  incoming: IncomingMessage,
  stopped: AbortSignal,
  hold: Hold,
  { limits, clock }: BodyReader,
): Promise<Result<Buffer, BodyFault>> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const startedAt = clock.now();
    let cancelIdle: () => void = ignore;
    const finish = (result: Result<Buffer, BodyFault>) => {
      cancelIdle();
      incoming.pause();
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      stopped.removeEventListener('abort', onGone);
      // A socket error after this point belongs to the answer, which watches for it itself.
      incoming.on('error', ignore);
      resolve(result);
    };
    const expectMore = () => {
      cancelIdle();
      cancelIdle = clock.setTimeout(() => finish(err(stalled(limits.body_idle_ms))), limits.body_idle_ms);
    };
    const onData = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > limits.body_bytes) return finish(err(tooLarge(limits.body_bytes)));
      if (!hold.reserve(bytes)) return finish(err(BUSY));
      const dueMs = limits.body_idle_ms + bytes / SLOWEST_BYTES_PER_MS;
      if (clock.now() - startedAt > dueMs) return finish(err(TOO_SLOW));
      chunks.push(chunk);
      expectMore();
    };
    const onEnd = () => finish(ok(Buffer.concat(chunks, bytes)));
    const onGone = () => finish(err('gone'));
    if (stopped.aborted || (incoming.destroyed && !incoming.complete)) return finish(err('gone'));
    expectMore();
    stopped.addEventListener('abort', onGone, { once: true });
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** Stands outside of any call: a listener made inside of one would keep the body's bytes alive with it. */
const ignore = (): void => undefined;

const TOO_SLOW: Refusal = {
  code: 'body_invalid',
  why: `it arrived more slowly than ${SLOWEST_BYTES_PER_MS} bytes a millisecond`,
};

const stalled = (ms: number): Refusal => ({
  code: 'body_invalid',
  why: `it stopped arriving for longer than the limit body_idle_ms (${ms} ms)`,
});

async function decoded(
  bytes: Buffer,
  encoding: Encoding,
  hold: Hold,
  limit: number,
): Promise<Result<Buffer, Refusal>> {
  // Nobody knows before how long it will be; afterwards it takes no more than it has.
  if (!hold.reserve(bytes.length + limit)) return err(BUSY);
  const whole = await decodeBody(bytes, encoding, limit);
  if (whole.ok) {
    hold.shrink(whole.value.length);
    return whole;
  }
  return err(
    whole.error === 'too_large'
      ? tooLarge(limit)
      : { code: 'body_invalid', why: 'it cannot be decoded by its content-encoding' },
  );
}
