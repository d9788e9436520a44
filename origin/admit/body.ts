import type { IncomingMessage } from 'node:http';
import { promisify } from 'node:util';
import { brotliDecompress, gunzip, inflate } from 'node:zlib';
import type { Refusal } from '../../shared/errors.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';

/** Bytes of request bodies that the process may hold at once, so that many large uploads cannot exhaust it. */
export class BodyBudget {
  #left: number;

  constructor(bytes: number) {
    this.#left = bytes;
  }

  take(bytes: number): boolean {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }

  give(bytes: number): void {
    this.#left += bytes;
  }
}

/** A body in memory; `release` gives its bytes back to the budget and may be called more than once. */
export interface HeldBody {
  readonly bytes: Buffer;
  release(): void;
}

/** The caller hung up while the body was still arriving. */
export type BodyFault = Refusal | 'gone';

export interface BodyReader {
  readonly limits: Pick<Limits, 'body_bytes' | 'buffered_body_bytes' | 'body_idle_ms'>;
  readonly budget: BodyBudget;
  readonly clock: Clock;
}

const decoders = {
  gzip: promisify(gunzip),
  'x-gzip': promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
};

/**
 * Reads a request body whole. `body_too_large` is decided by `content-length` before a byte is read, or by
 * count where there is none; `gateway_busy` where the process holds too many body bytes already.
 */
export async function readBody(
  incoming: IncomingMessage,
  reader: BodyReader,
): Promise<Result<HeldBody, BodyFault>> {
  const announced = Number(incoming.headers['content-length'] ?? Number.NaN);
  if (announced > reader.limits.body_bytes) return err(tooLarge(reader.limits.body_bytes));
  const hold = new Hold(reader.budget);
  const arrived = await collect(incoming, announced, hold, reader);
  const decoded = arrived.ok
    ? await decode(arrived.value, incoming.headers['content-encoding'], hold, reader.limits.body_bytes)
    : arrived;
  if (!decoded.ok) {
    hold.release();
    return decoded;
  }
  return ok({ bytes: decoded.value, release: () => hold.release() });
}

const tooLarge = (bytes: number): Refusal => ({ code: 'body_too_large', limit: 'body_bytes', bytes });
const busy: Refusal = { code: 'gateway_busy', limit: 'buffered_body_bytes' };

class Hold {
  readonly #budget: BodyBudget;
  #bytes = 0;

  constructor(budget: BodyBudget) {
    this.#budget = budget;
  }

  reserve(bytes: number): boolean {
    if (bytes <= this.#bytes) return true;
    if (!this.#budget.take(bytes - this.#bytes)) return false;
    this.#bytes = bytes;
    return true;
  }

  release(): void {
    this.#budget.give(this.#bytes);
    this.#bytes = 0;
  }
}

function collect(
  incoming: IncomingMessage,
  announced: number,
  hold: Hold,
  { limits, clock }: BodyReader,
): Promise<Result<Buffer, BodyFault>> {
  if (announced > 0 && !hold.reserve(announced)) return Promise.resolve(err(busy));
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const stalled = () =>
      finish(
        err({
          code: 'body_invalid',
          why: `it stopped arriving for longer than the limit body_idle_ms (${limits.body_idle_ms} ms)`,
        }),
      );
    let cancelIdle = clock.setTimeout(stalled, limits.body_idle_ms);
    const onData = (chunk: Buffer) => {
      cancelIdle();
      cancelIdle = clock.setTimeout(stalled, limits.body_idle_ms);
      bytes += chunk.length;
      if (bytes > limits.body_bytes) return finish(err(tooLarge(limits.body_bytes)));
      if (!hold.reserve(bytes)) return finish(err(busy));
      chunks.push(chunk);
    };
    const onEnd = () => finish(ok(Buffer.concat(chunks, bytes)));
    const onGone = () => finish(err('gone'));
    const finish = (result: Result<Buffer, BodyFault>) => {
      cancelIdle();
      incoming.pause();
      incoming.off('data', onData).off('end', onEnd).off('close', onGone).off('error', onGone);
      // A socket error after this point belongs to the answer, which watches for it itself.
      incoming.on('error', () => undefined);
      resolve(result);
    };
    if (incoming.destroyed && !incoming.complete) return finish(err('gone'));
    incoming.on('data', onData).on('end', onEnd).on('close', onGone).on('error', onGone);
  });
}

/** Undoes `content-encoding`, bounded by the same limit, since the model's name cannot be replaced in it. */
async function decode(
  bytes: Buffer,
  encoding: string | undefined,
  hold: Hold,
  limit: number,
): Promise<Result<Buffer, Refusal>> {
  const name = (encoding ?? 'identity').trim().toLowerCase();
  if (name === 'identity' || name === '') return ok(bytes);
  if (name !== 'gzip' && name !== 'x-gzip' && name !== 'deflate' && name !== 'br') {
    return err({
      code: 'body_invalid',
      why: 'its content-encoding is not identity, gzip, deflate or br',
      param: 'content-encoding',
    });
  }
  if (!hold.reserve(bytes.length + limit)) return err(busy);
  try {
    const decoded = await decoders[name](bytes, { maxOutputLength: limit });
    return ok(decoded);
  } catch (cause) {
    const over = cause instanceof Error && 'code' in cause && cause.code === 'ERR_BUFFER_TOO_LARGE';
    return err(
      over ? tooLarge(limit) : { code: 'body_invalid', why: 'it cannot be decoded by its content-encoding' },
    );
  }
}
