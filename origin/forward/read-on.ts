import type { Clock } from '../clock.ts';
import type { ChunkSource } from './chunks.ts';

/** How long, in ms, and for how many bytes an answer is read on for its evidence alone. */
const READ_ON_MS = 500;
const READ_ON_BYTES = 64 * 1024;

/**
 * Reads more of an answer than anyone is to get, since it may still say where it was made. Gives whether there was
 * more of it than is read. Never rejects; without an end in time the upstream call is ended.
 */
export async function readOn(
  chunks: ChunkSource,
  clock: Clock,
  push: (bytes: Buffer) => void,
): Promise<'over' | 'more'> {
  const until = clock.monotonic() + READ_ON_MS;
  for (let bytes = 0; bytes <= READ_ON_BYTES; ) {
    const chunk = await chunks.next(Math.max(until - clock.monotonic(), 0));
    if (chunk.kind !== 'bytes') return 'over';
    push(chunk.bytes);
    bytes += chunk.bytes.length;
  }
  return 'more';
}
