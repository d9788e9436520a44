import type { Readable } from 'node:stream';
import type { Clock } from '../clock.ts';

/** What came of waiting for more of an answer's body. */
export type Chunk =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'end' }
  /** The connection broke, or the body could not be decoded. */
  | { readonly kind: 'cut' }
  /** Nothing came within the time given; the upstream call has been aborted. */
  | { readonly kind: 'silent' };

/** Reads an answer's body piece by piece, never longer than a given time, and never ahead of its reader. */
export class ChunkSource {
  readonly #iterator: AsyncIterator<unknown>;
  readonly #clock: Clock;
  readonly #abort: () => void;
  bytes = 0;

  constructor(body: Readable, clock: Clock, abort: () => void) {
    this.#iterator = body[Symbol.asyncIterator]();
    this.#clock = clock;
    this.#abort = abort;
  }

  async next(withinMs: number): Promise<Chunk> {
    let silent = false;
    const cancel = this.#clock.setTimeout(() => {
      silent = true;
      this.#abort();
    }, withinMs);
    try {
      const next = await this.#iterator.next();
      if (next.done === true || !(next.value instanceof Uint8Array)) return { kind: 'end' };
      this.bytes += next.value.length;
      return {
        kind: 'bytes',
        bytes: Buffer.from(next.value.buffer, next.value.byteOffset, next.value.length),
      };
    } catch {
      return { kind: silent ? 'silent' : 'cut' };
    } finally {
      cancel();
    }
  }

  /** Ends the upstream call, whatever is still to come of it. */
  abort(): void {
    this.#abort();
  }
}
