import { setImmediate } from 'node:timers/promises';
import { TextCount } from './text-count.ts';

/** Bytes of text that count as one token: about what tokenisers make of English; other scripts take fewer. */
const BYTES_PER_TOKEN = 4;

/**
 * Tokens that an image or file inside the request counts as: those of the largest image that is not scaled down
 * (https://platform.claude.com/docs/en/build-with-claude/vision).
 */
const TOKENS_PER_BLOB = 1_600;

/** Bytes that are read before other calls get their turn: a few milliseconds. */
const SLICE_BYTES = 128 * 1024;

/**
 * A rough count of a request's input tokens, made here so that the request need go nowhere: a quarter of the
 * bytes of all names and texts in `system`, `messages` and `tools`, and a fixed number for each base64 block.
 * Nothing is built of what the request says, so that one made to be costly costs no more than its bytes.
 *
 * @param body a JSON object that has been checked, bounded by the limit on bodies
 */
export async function estimateTokens(body: Buffer): Promise<number> {
  const count = new TextCount(body);
  while (!count.step(SLICE_BYTES)) await setImmediate();
  return Math.max(1, Math.ceil(count.bytes / BYTES_PER_TOKEN) + count.blobs * TOKENS_PER_BLOB);
}
