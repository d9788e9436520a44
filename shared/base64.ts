import { HASH_BYTES } from './merkle/hash.ts';

/**
 * The bytes of standard base64 with padding (RFC 4648 section 4), or undefined for any other text. Node skips what
 * it does not know and takes several texts for the same bytes; here there is one.
 */
export const decodeBase64 = (text: string): Uint8Array | undefined => strictly(text, 'base64');

/** The bytes of base64url without padding (RFC 4648 section 5, RFC 7515 section 2), or undefined. */
export const decodeBase64url = (text: string): Uint8Array | undefined => strictly(text, 'base64url');

function strictly(text: string, encoding: 'base64' | 'base64url'): Uint8Array | undefined {
  const bytes = Buffer.from(text, encoding);
  return bytes.toString(encoding) === text ? bytes : undefined;
}

export const encodeBase64 = (bytes: Uint8Array): string => viewed(bytes).toString('base64');

export const encodeBase64url = (bytes: Uint8Array): string => viewed(bytes).toString('base64url');

const viewed = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** A hash of the tree from standard base64, or undefined where it is not exactly 32 bytes. */
export function decodeHash(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text);
  return bytes?.length === HASH_BYTES ? bytes : undefined;
}

/** A whole number from ASCII digits without leading zeros, up to 2^53 - 1, or undefined for any other text. */
export function decimal(text: string): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined;
  const value = Number(text);
  return Number.isSafeInteger(value) ? value : undefined;
}
