import type { ServerResponse } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { createBrotliCompress, createGzip } from 'node:zlib';
import type { Order } from './order.ts';

/** Writes the body of one answer: encoded, cut into pieces, and no further than the fault allows. */
export class Outlet {
  readonly #response: ServerResponse;
  readonly #signal: AbortSignal;
  readonly #order: Order;
  readonly #encode: (bytes: Buffer, last: boolean) => Promise<Buffer>;
  readonly #collected: Buffer[] = [];
  #left: number;

  constructor(response: ServerResponse, signal: AbortSignal, order: Order) {
    this.#response = response;
    this.#signal = signal;
    this.#order = order;
    this.#encode = streamEncoder(order.encoding);
    const at = order.fault?.at;
    this.#left = typeof at === 'object' && 'bytes' in at ? at.bytes : Number.POSITIVE_INFINITY;
  }

  /** Whether the fault's count of bytes has been reached, and nothing more goes out. */
  get exhausted(): boolean {
    return this.#left === 0;
  }

  /** Encodes and sends, waiting for the caller to take it. */
  async write(bytes: Buffer, last = false): Promise<void> {
    await this.send(await this.#encode(bytes, last));
  }

  /** Sends bytes that are encoded already. */
  async send(bytes: Buffer): Promise<void> {
    const allowed = bytes.subarray(0, Math.min(this.#left, bytes.length));
    this.#left -= allowed.length;
    if (this.#order.wire?.coalesce === true) this.#collected.push(allowed);
    else await this.#pieces(allowed);
  }

  /** Sends what an order to coalesce has held back. */
  async flush(): Promise<void> {
    if (this.#collected.length > 0) await this.#pieces(Buffer.concat(this.#collected.splice(0)));
  }

  async #pieces(bytes: Buffer): Promise<void> {
    const size = this.#order.wire?.split ?? bytes.length;
    for (let at = 0; at < bytes.length; at += size) await this.#put(bytes.subarray(at, at + size));
  }

  /** Resolves when the piece has left the process, so that a cut after it cannot take it back. */
  async #put(piece: Buffer): Promise<void> {
    this.#signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const hungUp = () => reject(this.#signal.reason);
    this.#signal.addEventListener('abort', hungUp, { once: true });
    this.#response.write(piece, (error) => (error ? reject(error) : resolve()));
    try {
      await promise;
    } finally {
      this.#signal.removeEventListener('abort', hungUp);
    }
  }
}

/** Encodes part by part, each so that the receiver can decode it at once, as streaming servers do. */
function streamEncoder(encoding: Order['encoding']): (bytes: Buffer, last: boolean) => Promise<Buffer> {
  if (encoding === undefined) return async (bytes) => bytes;
  const encoder = encoding === 'gzip' ? createGzip() : createBrotliCompress();
  const out: Buffer[] = [];
  encoder.on('data', (chunk: Buffer) => out.push(chunk));
  return async (bytes, last) => {
    encoder.write(bytes);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (last) encoder.once('end', resolve).end();
    else encoder.flush(() => resolve());
    await promise;
    // The encoder may hand out its last chunk one turn after it reports the flush.
    await setImmediate();
    return Buffer.concat(out.splice(0));
  };
}
