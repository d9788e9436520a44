import { createPublicKey, type KeyObject } from 'node:crypto';
import { decodeBase64, encodeBase64, encodeBase64url } from './base64.ts';
import { sameBytes } from './merkle/hash.ts';
import { isKeyName, keyId } from './note.ts';
import { err, ok, type Result } from './result.ts';

/** What a key signs, with its type byte: a note as it is, or with the time of signing (C2SP tlog-cosignature). */
export const SIGNATURE_TYPE = { ed25519: 0x01, cosignature: 0x04 } as const;

export type SignatureType = keyof typeof SIGNATURE_TYPE;

const RAW_BYTES = 32;

/** From when until when signatures of a key count, in ms since the epoch, both ends included. */
export interface Validity {
  readonly notBefore?: number;
  readonly notAfter?: number;
}

/** A public Ed25519 key that somebody trusts under a name, for one type of signature. */
export interface VerifierKey extends Validity {
  readonly name: string;
  readonly type: SignatureType;
  readonly publicKey: KeyObject;
  /** The public key's 32 bytes, RFC 8032. */
  readonly raw: Uint8Array;
  /** Key id of its signature lines, 4 bytes. */
  readonly id: Uint8Array;
}

/** A key of this name; of a private key the public part. Throws where it is no Ed25519 key or no name for a key. */
export function verifierKey(
  name: string,
  type: SignatureType,
  key: KeyObject,
  validity: Validity = {},
): VerifierKey {
  if (!isKeyName(name)) throw new TypeError(`no key can be named ${JSON.stringify(name)}`);
  const publicKey = key.type === 'private' ? createPublicKey(key) : key;
  const { crv, x = '' } = publicKey.export({ format: 'jwk' });
  if (crv !== 'Ed25519') throw new TypeError('not an Ed25519 key');
  const raw = Buffer.from(x, 'base64url');
  return { ...validity, name, type, publicKey, raw, id: keyId(name, SIGNATURE_TYPE[type], raw) };
}

/** Reads a key as C2SP writes it: `<name>+<key id in hex>+<base64 of type byte and public key>`. */
export function parseVkey(text: string): Result<VerifierKey, string> {
  const [, name = '', , base64 = ''] = /^([^+]+)\+([0-9a-f]{8})\+(\S+)$/.exec(text) ?? [];
  const bytes = decodeBase64(base64);
  if (!isKeyName(name) || bytes === undefined || bytes.length !== 1 + RAW_BYTES) {
    return err('not of the form <name>+<8 hex digits>+<base64 of 33 bytes>');
  }
  const type = typeOf(bytes[0]);
  if (type === undefined) return err('neither an Ed25519 key (type 1) nor one for cosignatures (type 4)');
  const key = verifierKey(name, type, publicKeyOf(bytes.subarray(1)));
  return formatVkey(key) === text ? ok(key) : err('the key id does not fit name and key');
}

export const formatVkey = ({ name, type, raw, id }: VerifierKey): string =>
  `${name}+${Buffer.from(id).toString('hex')}+${encodeBase64(Buffer.concat([Uint8Array.of(SIGNATURE_TYPE[type]), raw]))}`;

/** Whether signatures of that moment count (ms since the epoch). */
export const isValidAt = ({ notBefore, notAfter }: Validity, at: number): boolean =>
  (notBefore === undefined || at >= notBefore) && (notAfter === undefined || at <= notAfter);

/** Whether both are the same key pair, whatever their names and types. */
export const isSameKey = (a: VerifierKey, b: VerifierKey): boolean => sameBytes(a.raw, b.raw);

const publicKeyOf = (raw: Uint8Array): KeyObject =>
  createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: encodeBase64url(raw) }, format: 'jwk' });

function typeOf(byte: number | undefined): SignatureType | undefined {
  switch (byte) {
    case SIGNATURE_TYPE.ed25519:
      return 'ed25519';
    case SIGNATURE_TYPE.cosignature:
      return 'cosignature';
    default:
      return undefined;
  }
}
