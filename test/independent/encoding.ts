import { Fault } from './fault.ts';

export type Bytes = Uint8Array<ArrayBuffer>;

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const bytesOf = (text: string): Bytes => encoder.encode(text);

export function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new Fault('malformed', 'not valid UTF-8');
  }
}

export const join = (...parts: readonly Uint8Array[]): Bytes => {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  return joined;
};

export const same = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, i) => byte === b[i]);

export const hexOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

/** Decodes RFC 4648 §4 (§5, without padding, as `base64url`); only the one canonical form of the bytes is taken. */
export function fromBase64(text: string, alphabet: 'base64' | 'base64url' = 'base64'): Bytes {
  const bytes = Buffer.from(text, alphabet);
  if (bytes.toString(alphabet) !== text) throw new Fault('malformed', `not canonical ${alphabet}`);
  return join(bytes);
}

/** A decimal without sign or leading zero that a double holds exactly. */
export function fromDecimal(text: string): number {
  const value = /^(0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new Fault('malformed', 'not a plain decimal number');
  return value;
}

export function at<T>(list: readonly T[], index: number): T {
  const item = list[index];
  if (item === undefined) throw new Fault('malformed', 'something is missing at the end');
  return item;
}
