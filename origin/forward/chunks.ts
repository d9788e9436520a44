import type { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';

/** How long, in ms, and for how many bytes the rest of an answer is let run off unread. */
const DRAIN_MS = 2_000;
const DRAIN_BYTES = 256 * 1024;

/** What came of waiting for more of an answer's body. */
export type Chunk =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  /** The connection broke, the call was aborted, or the body could not be decoded. */
  | { readonly kind: 'cut' }
  /** Nothing came within the time given; the upstream call has been aborted. */
  | { readonly kind: 'silent' };

/** Reads an answer's body piece by piece, never longer than a given time, and never ahead of its reader. */
export class ChunkSource {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #clock: Clock;
  readonly #abort: () => void;
  #over = false;

  /** @param abort ends the upstream call, so that whoever waits for a chunk gets a `cut` */
  constructor(body: Readable, clock: Clock, abort: () => void) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#clock = clock;
    this.#abort = abort;
  }

  /** Never rejects. Without `withinMs`, whoever holds the call's abort bounds the wait. */
  async next(withinMs?: number): Promise<Chunk> {
    let silent = false;
    const cancel =
      withinMs === undefined
        ? undefined
        : this.#clock.setTimeout(() => {
            silent = true;
            this.#abort();
          }, withinMs);
    const chunk = await this.#read();
    cancel?.();
    if (chunk.kind !== 'bytes') this.#over = true;
    return silent && chunk.kind === 'cut' ? { kind: 'silent' } : chunk;
  }

  async #read(): Promise<Chunk> {
    try {
      const { done, value } = await this.#iterator.next();
      if (done === true || !(value instanceof Uint8Array)) return { kind: 'end' };
      return { kind: 'bytes', bytes: Buffer.from(value.buffer, value.byteOffset, value.length) };
    } catch {
      return { kind: 'cut' };
    }
  }

  /** Ends the upstream call, unless all of its answer has been read. */
  close(): void {
    if (!this.#over) this.#abort();
  }

  /** Lets a short rest run off unread, so that the connection can serve another call. Never rejects. */
  async drain(): Promise<void> {
    let overdue = false;
    const cancel = this.#clock.setTimeout(() => {
      overdue = true;
      this.#abort();
    }, DRAIN_MS);
    for (let bytes = 0; !this.#over && !overdue && bytes <= DRAIN_BYTES; ) {
      const chunk = await this.next();
      if (chunk.kind === 'bytes') bytes += chunk.bytes.length;
    }
    cancel();
    this.close();
  }
}
