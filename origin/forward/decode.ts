import type { IncomingHttpHeaders } from 'node:http';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

export interface Decoded {
  readonly body: Readable;
  /** Whether there was something to undo, so that the endpoint's `content-length` no longer holds. */
  readonly decoded: boolean;
}

/**
 * Undoes a `content-encoding`, as what the endpoint says has to be read on its way to the caller. Undefined
 * where the encoding is not known.
 */
export function decode(headers: IncomingHttpHeaders, body: Readable): Decoded | undefined {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return { body, decoded: false };
  const decoder = DECODERS.get(encoding);
  return decoder && { body: pipeline(body, decoder(), () => undefined), decoded: true };
}
