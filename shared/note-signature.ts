import { type KeyObject, sign, verify } from 'node:crypto';
import { sameBytes } from './merkle/hash.ts';
import type { NoteSignature } from './note.ts';
import { type VerifierKey, verifierKey } from './verifier-key.ts';

/** First line of what a cosignature signs; it keeps cosignatures apart from signatures of notes. */
export const COSIGNATURE_HEADER = 'cosignature/v1';

const TIME_BYTES = 8;

/** The last second that RFC 3339 can write: the end of the year 9999. Later times are not read. */
const LAST_SECOND = 253_402_300_799n;

export interface NoteSigner {
  /** Name of the key. */
  readonly name: string;
  /** Ed25519. */
  readonly privateKey: KeyObject;
}

/** Signs a note as it is (type 0x01). */
export function signNote(text: string, { name, privateKey }: NoteSigner): NoteSignature {
  const { id } = verifierKey(name, 'ed25519', privateKey);
  return { name, keyId: id, signature: sign(null, Buffer.from(text), privateKey) };
}

/** Signs a checkpoint with the time, in seconds since the epoch (C2SP tlog-cosignature, type 0x04). */
export function cosignNote(text: string, { name, privateKey }: NoteSigner, atSeconds: number): NoteSignature {
  const { id } = verifierKey(name, 'cosignature', privateKey);
  const seconds = BigInt(atSeconds);
  const time = Buffer.alloc(TIME_BYTES);
  time.writeBigUInt64BE(seconds);
  const signature = sign(null, cosigned(text, seconds), privateKey);
  return { name, keyId: id, signature: Buffer.concat([time, signature]) };
}

/** Whether a signature line names this key. */
export const isBy = (key: VerifierKey, { name, keyId }: NoteSignature): boolean =>
  key.name === name && sameBytes(key.id, keyId);

/** What a signature line comes to: `at`, in ms since the epoch, where it holds and its type has a time. */
export interface Attested {
  readonly holds: boolean;
  readonly at: number | undefined;
}

/** Verifies the signature of this key on the text of a note. Never throws, whatever the signature. */
export function attestedBy(key: VerifierKey, text: string, { signature }: NoteSignature): Attested {
  switch (key.type) {
    case 'ed25519':
      return { holds: verify(null, Buffer.from(text), key.publicKey, signature), at: undefined };
    case 'cosignature': {
      const at = attestedTime(text, signature, key);
      return { holds: at !== undefined, at };
    }
  }
}

function attestedTime(text: string, bytes: Uint8Array, key: VerifierKey): number | undefined {
  if (bytes.length <= TIME_BYTES) return undefined;
  const seconds = new DataView(bytes.buffer, bytes.byteOffset, bytes.length).getBigUint64(0);
  if (seconds > LAST_SECOND) return undefined;
  const holds = verify(null, cosigned(text, seconds), key.publicKey, bytes.subarray(TIME_BYTES));
  return holds ? Number(seconds) * 1000 : undefined;
}

const cosigned = (text: string, seconds: bigint): Buffer =>
  Buffer.from(`${COSIGNATURE_HEADER}\ntime ${seconds}\n${text}`);
