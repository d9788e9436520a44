import { z } from 'zod';

/** Bytes of text that count as one token: about what tokenisers make of English; other scripts take fewer. */
const BYTES_PER_TOKEN = 4;

/**
 * Tokens that an image or file inside the request counts as: those of the largest image that is not scaled down
 * (https://platform.claude.com/docs/en/build-with-claude/vision).
 */
const TOKENS_PER_BLOB = 1_600;

const countedSchema = z.object({ system: z.unknown(), messages: z.unknown(), tools: z.unknown() }).partial();

const blobSchema = z.object({ type: z.literal('base64'), data: z.string() });

/**
 * A rough count of a request's input tokens, made here so that the request need go nowhere: a quarter of the
 * bytes of all names and texts in `system`, `messages` and `tools`, and a fixed number for each base64 block.
 *
 * @param body a JSON object, bounded by the limit on bodies
 */
export function estimateTokens(body: Buffer): number {
  const counted = countedSchema.safeParse(JSON.parse(body.toString('utf8')));
  // A list and no recursion: how deep a request is nested is the caller's choice.
  const left: unknown[] = counted.success ? Object.values(counted.data) : [];
  let bytes = 0;
  let blobs = 0;
  while (left.length > 0) {
    const value = left.pop();
    if (typeof value === 'string') bytes += Buffer.byteLength(value);
    else if (Array.isArray(value)) for (const one of value) left.push(one);
    else if (blobSchema.safeParse(value).success) blobs += 1;
    else if (typeof value === 'object' && value !== null) {
      for (const [name, member] of Object.entries(value)) left.push(name, member);
    }
  }
  return Math.max(1, Math.ceil(bytes / BYTES_PER_TOKEN) + blobs * TOKENS_PER_BLOB);
}
