import type { webcrypto } from 'node:crypto';
import { type Bytes, bytesOf, fromBase64, hexOf, join } from './encoding.ts';
import { Fault } from './fault.ts';

/** Signatures that one note may carry; signed-note asks for 16 at least. */
const MOST_SIGNATURES = 64;

/** C2SP signed-note, "Signature types": plain Ed25519, and the timestamped one of tlog-cosignature. */
export const ED25519 = 0x01;
export const COSIGNATURE = 0x04;

export interface NoteSignature {
  readonly name: string;
  readonly keyId: string;
  readonly bytes: Bytes;
}

/** A signed note, taken apart and not yet believed. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

export interface NoteKey {
  readonly name: string;
  readonly keyId: string;
  readonly key: webcrypto.CryptoKey;
}

const NAME = /^[^\s+]+$/u;

/** Reads a vkey `<name>+<key id>+<base64 of type and key>`, whose id must be the one that its parts give. */
export async function readVkey(vkey: string, type: number): Promise<NoteKey> {
  const parts = /^([^\s+]+)\+([0-9a-f]{8})\+(\S+)$/u.exec(vkey);
  if (parts === null) throw new Fault('malformed', 'not a vkey');
  const [, name = '', keyId = '', encoded = ''] = parts;
  const material = fromBase64(encoded);
  if (material.length !== 33 || material[0] !== type)
    throw new Fault('malformed', `not a vkey of type ${type}`);
  const digest = await crypto.subtle.digest('SHA-256', join(bytesOf(`${name}\n`), material));
  if (hexOf(new Uint8Array(digest, 0, 4)) !== keyId) throw new Fault('malformed', 'key id is of another key');
  const key = await crypto.subtle.importKey('raw', material.slice(1), 'Ed25519', false, ['verify']);
  return { name, keyId, key };
}

/** Takes a note apart: the text ends at the last empty line, and each line after it is a signature. */
export function parseNote(note: string): Note {
  if ([...note].some((char) => char < ' ' && char !== '\n'))
    throw new Fault('malformed', 'control character');
  const cut = note.lastIndexOf('\n\n');
  if (cut === -1 || !note.endsWith('\n')) throw new Fault('malformed', 'not a signed note');
  const lines = note.slice(cut + 2, -1).split('\n');
  if (lines.length > MOST_SIGNATURES) throw new Fault('too_large', 'too many signatures');
  return { text: note.slice(0, cut + 1), signatures: lines.map(parseSignature) };
}

/** Reads one line `— <name> <base64 of key id and signature>`. */
export function parseSignature(line: string): NoteSignature {
  const [dash, name = '', encoded = '', ...rest] = line.split(' ');
  if (dash !== '—' || !NAME.test(name) || rest.length > 0)
    throw new Fault('malformed', 'not a signature line');
  const bytes = fromBase64(encoded);
  if (bytes.length < 5) throw new Fault('malformed', 'signature too short');
  return { name, keyId: hexOf(bytes.subarray(0, 4)), bytes: bytes.slice(4) };
}

/** The signatures under a note by a key: by its name and its id, of which each alone proves nothing. */
const ofKey = ({ signatures }: Note, key: NoteKey): readonly NoteSignature[] =>
  signatures.filter(({ name, keyId }) => name === key.name && keyId === key.keyId);

/** Requires a signature of the key, and that each that claims to be by it holds. */
export async function requireSignature(note: Note, key: NoteKey): Promise<void> {
  const found = ofKey(note, key);
  if (found.length === 0) throw new Fault('unsigned', `no signature by ${key.name}`);
  for (const { bytes } of found) await verify(key, bytes, note.text);
}

/** When (Unix seconds) the witness cosigned the note; undefined where it did not. */
export async function cosignedAt(note: Note, witness: NoteKey): Promise<number | undefined> {
  let latest: number | undefined;
  for (const { bytes } of ofKey(note, witness)) {
    if (bytes.length !== 72) throw new Fault('malformed', 'not a timestamped signature');
    const time = new DataView(bytes.buffer).getBigUint64(0);
    if (time >= 2n ** 63n) throw new Fault('malformed', 'time of a cosignature is out of range');
    await verify(witness, bytes.slice(8), `cosignature/v1\ntime ${time}\n${note.text}`);
    latest = Math.max(latest ?? 0, Number(time));
  }
  return latest;
}

async function verify({ name, key }: NoteKey, signature: Bytes, message: string): Promise<void> {
  if (!(await crypto.subtle.verify('Ed25519', key, signature, bytesOf(message))))
    throw new Fault('forged', `signature of ${name} does not hold`);
}

/** The lines of a note's text, without the newline that ends each. */
export const linesOf = (text: string): readonly string[] => text.split('\n').slice(0, -1);
