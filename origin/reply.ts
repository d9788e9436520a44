import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { errorBody, type Refusal, retryAfterOf, statusOf } from '../shared/errors.ts';
import { HEADER, type Outcome } from '../shared/headers.ts';
import type { Call } from './admit/call.ts';
import type { Clock } from './clock.ts';

/** How long, in ms, and for how many bytes an unread body is let run off, so that the answer is not lost. */
const LINGER_MS = 5_000;
const LINGER_BYTES = 64 * 1024 * 1024;

/** Answers with a whole body. */
export function send(
  call: Call,
  status: number,
  outcome: Outcome,
  body: object,
  headers: Record<string, string> = {},
): void {
  if (call.outgoing.headersSent || call.outgoing.destroyed) return;
  call.told ??= { outcome };
  const bytes = Buffer.from(JSON.stringify(body));
  call.outgoing.writeHead(status, {
    ...call.headers,
    [HEADER.outcome]: outcome,
    'content-type': 'application/json',
    'content-length': bytes.length,
    'cache-control': 'no-store',
    ...headers,
  });
  call.outgoing.end(bytes);
}

/** Answers with a refusal in the envelope of the caller's API. */
export function sendRefusal(call: Call, refusal: Refusal, outcome: Outcome = 'refused'): void {
  const retryAfter = retryAfterOf(refusal);
  call.told ??= { outcome, code: refusal.code };
  send(call, statusOf(refusal), outcome, errorBody(refusal, call.api, call.requestId), {
    ...('policy' in refusal && { [HEADER.policy]: refusal.policy }),
    ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
  });
}

/**
 * Closing a connection whose request is still arriving can destroy the answer on its way (RFC 9112 section
 * 9.6), so what is left of a request that has its answer is let run off unread, within bounds.
 */
export function letRunOff(incoming: IncomingMessage, clock: Clock): void {
  if (incoming.complete || incoming.destroyed) return;
  let bytes = 0;
  const close = () => incoming.socket.destroy();
  const cancel = clock.setTimeout(close, LINGER_MS);
  incoming.on('close', cancel).on('end', cancel);
  incoming.on('error', () => undefined);
  incoming.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES) close();
  });
  incoming.resume();
}

/** The way of an answer to a caller, as fast as the caller reads. */
export class Outflow {
  readonly #call: Call;
  readonly #clock: Clock;
  readonly #stallMs: number;
  bytes = 0;

  /** @param stallMs how long a caller may read nothing, in ms */
  constructor(call: Call, clock: Clock, stallMs: number) {
    this.#call = call;
    this.#clock = clock;
    this.#stallMs = stallMs;
  }

  /** False where the caller is gone or has read nothing for too long; the connection is closed then. */
  async write(bytes: Buffer): Promise<boolean> {
    const { outgoing } = this.#call;
    if (outgoing.destroyed) return false;
    this.bytes += bytes.length;
    return outgoing.write(bytes) || this.#within(once(outgoing, 'drain', { signal: this.#call.gone }));
  }

  /** Ends the answer properly; false as for `write`. */
  async end(last?: string): Promise<boolean> {
    const { outgoing } = this.#call;
    if (outgoing.destroyed) return false;
    const finished = once(outgoing, 'finish', { signal: this.#call.gone });
    outgoing.end(last);
    return this.#within(finished);
  }

  /**
   * Breaks the connection, where only that tells the caller that the answer is not whole. What was written goes
   * out first: the edge takes a head that never came for an origin that cannot be reached.
   */
  cut(): void {
    const { outgoing } = this.#call;
    outgoing.socket?.once(
      'close',
      this.#clock.setTimeout(() => outgoing.destroy(), this.#stallMs),
    );
    outgoing.socket?.destroySoon();
  }

  async #within(event: Promise<unknown>): Promise<boolean> {
    const cancel = this.#clock.setTimeout(() => {
      this.#call.stop('client');
      this.#call.outgoing.destroy();
    }, this.#stallMs);
    try {
      await event;
      return true;
    } catch {
      return false;
    } finally {
      cancel();
    }
  }
}
