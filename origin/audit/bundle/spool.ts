import { createHash, type Hash } from 'node:crypto';
import { type FileHandle, open } from 'node:fs/promises';
import type { Manifest } from '../../../shared/bundle.ts';

/** Bytes that are gathered before they are written. */
const CHUNK = 1024 * 1024;

/** A file of a bundle as its manifest lists it. */
export type ListedFile = Manifest['files'][number];

/**
 * Files of a bundle on their way into it, one behind the other in one file on disk: a tar archive wants the size of
 * each before its bytes, and they can be larger than memory and many.
 */
export class Spool {
  readonly #file: FileHandle;
  readonly #listed: ListedFile[] = [];
  #hash: Hash = createHash('sha256');
  #bytes = 0;
  #chunks: Uint8Array[] = [];
  #held = 0;

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async at(path: string): Promise<Spool> {
    return new Spool(await open(path, 'wx+', 0o600));
  }

  /** Files that have been ended, in their order. */
  get files(): readonly ListedFile[] {
    return this.#listed;
  }

  async write(text: string | Uint8Array): Promise<void> {
    const bytes = typeof text === 'string' ? Buffer.from(text) : text;
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    this.#chunks.push(bytes);
    this.#held += bytes.length;
    if (this.#held >= CHUNK) await this.#flush();
  }

  /** What was written since the last end is the file of this name. */
  end(name: string): void {
    this.#listed.push({ name, bytes: this.#bytes, sha256: this.#hash.digest('hex') });
    this.#hash = createHash('sha256');
    this.#bytes = 0;
  }

  /** Each file that was ended, with its bytes, which MUST be read before the next one. */
  async *contents(): AsyncGenerator<readonly [ListedFile, AsyncIterable<Uint8Array>]> {
    await this.#flush();
    let start = 0;
    for (const listed of this.#listed) {
      yield [listed, this.#read(start, listed.bytes)];
      start += listed.bytes;
    }
  }

  close(): Promise<void> {
    return this.#file.close();
  }

  async *#read(start: number, length: number): AsyncGenerator<Uint8Array> {
    for (let done = 0; done < length; ) {
      const chunk = Buffer.alloc(Math.min(CHUNK, length - done));
      const { bytesRead } = await this.#file.read(chunk, 0, chunk.length, start + done);
      if (bytesRead === 0) throw new Error('a file that was just written has become shorter');
      yield chunk.subarray(0, bytesRead);
      done += bytesRead;
    }
  }

  async #flush(): Promise<void> {
    await this.#file.appendFile(Buffer.concat(this.#chunks));
    this.#chunks = [];
    this.#held = 0;
  }
}
