import { generateKeyPairSync, hash, type KeyObject, sign } from 'node:crypto';
import { COSIGNATURE, ED25519 } from './note.ts';

/** A key that signs notes, as C2SP signed-note and tlog-cosignature say. */
export interface NoteSigner {
  readonly name: string;
  readonly vkey: string;
  readonly type: number;
  /** The signature line, newline included. A cosignature is of the time given, in Unix seconds. */
  sign(text: string, seconds?: number): string;
  /** A signature of bytes that are no note. */
  signBytes(message: string): Buffer;
}

/** A new key of a log. */
export const newLogSigner = (name: string): NoteSigner => newSigner(name, ED25519);

/** A new key of a witness. */
export const newWitnessSigner = (name: string): NoteSigner => newSigner(name, COSIGNATURE);

/** The vkey of a name and a raw Ed25519 public key in base64url, as a JWK's `x` holds it. */
export const vkeyOf = (name: string, type: number, x: string): string => {
  const material = Buffer.concat([Uint8Array.of(type), Buffer.from(x, 'base64url')]);
  return `${name}+${keyId(name, material).toString('hex')}+${material.toString('base64')}`;
};

const keyId = (name: string, material: Uint8Array): Buffer =>
  hash('sha256', Buffer.concat([Buffer.from(`${name}\n`), material]), 'buffer').subarray(0, 4);

function newSigner(name: string, type: number): NoteSigner {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const id = keyId(name, Buffer.concat([Uint8Array.of(type), Buffer.from(x, 'base64url')]));
  const body = (text: string, seconds: number): Buffer =>
    type === COSIGNATURE ? cosignature(privateKey, text, seconds) : signature(privateKey, text);
  return {
    name,
    type,
    vkey: vkeyOf(name, type, x),
    sign: (text, seconds = 0) => `— ${name} ${Buffer.concat([id, body(text, seconds)]).toString('base64')}\n`,
    signBytes: (message) => signature(privateKey, message),
  };
}

const signature = (key: KeyObject, message: string): Buffer => sign(null, Buffer.from(message), key);

function cosignature(key: KeyObject, text: string, seconds: number): Buffer {
  const time = Buffer.alloc(8);
  time.writeBigUInt64BE(BigInt(seconds));
  return Buffer.concat([time, signature(key, `cosignature/v1\ntime ${seconds}\n${text}`)]);
}
