import type { IncomingMessage } from 'node:http';

/** Bytes of a request body that the provider takes; above the gateway's own limit, so that this one is not met. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

/** The whole body, or undefined when it is over `limit` bytes. Throws when the caller hangs up before its end. */
export async function readBody(request: IncomingMessage, limit: number): Promise<Buffer | undefined> {
  const parts: Buffer[] = [];
  let length = 0;
  // Left early, the request must stay open, since it is still to be answered.
  for await (const part of request.iterator({ destroyOnReturn: false })) {
    if (!Buffer.isBuffer(part)) throw new TypeError('a request body is read as bytes');
    length += part.length;
    if (length > limit) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
