import { hash } from 'node:crypto';
import { decodeBase64, encodeBase64 } from './base64.ts';
import { err, ok, type Result } from './result.ts';

/** One signature line of a note. It says nothing until it is verified with the key that it names. */
export interface NoteSignature {
  /** Name of the key. */
  readonly name: string;
  /** 4 bytes that tell keys of one name apart; no proof of which key it was. */
  readonly keyId: Uint8Array;
  readonly signature: Uint8Array;
}

/** A signed note (C2SP signed-note). `text` ends with a newline, and must not be believed before a signature is. */
export interface Note {
  readonly text: string;
  readonly signatures: readonly NoteSignature[];
}

/** What is read of a note at most. The specification asks for at least 16 signatures of up to 5 kB. */
export const NOTE_LIMITS = {
  /** Characters of a whole note. */
  length: 262_144,
  signatures: 64,
} as const;

const KEY_ID_BYTES = 4;
const LINE_START = '— ';

/** Reads a note whose signatures are not verified yet; the error says what about its form is wrong. */
export function parseNote(signed: string): Result<Note, string> {
  if (signed.length > NOTE_LIMITS.length) return err('the note is too long');
  if (!signed.isWellFormed() || hasControls(signed)) return err('the note has characters that none may have');
  const end = signed.lastIndexOf('\n\n');
  if (end === -1 || !signed.endsWith('\n')) return err('the note has no signature after an empty line');
  const lines = signed.slice(end + 2, -1).split('\n');
  if (lines.length > NOTE_LIMITS.signatures) return err('the note has too many signatures');
  const signatures = lines.map(parseSignatureLine).filter((line) => line !== undefined);
  if (signatures.length < lines.length) return err('a signature line of the note is malformed');
  return ok({ text: signed.slice(0, end + 1), signatures });
}

export const formatNote = ({ text, signatures }: Note): string =>
  `${text}\n${signatures.map((signature) => `${formatSignatureLine(signature)}\n`).join('')}`;

/** One signature line, without the newline that ends it; undefined where it has another form. */
export function parseSignatureLine(line: string): NoteSignature | undefined {
  if (line.length > NOTE_LIMITS.length || !line.startsWith(LINE_START)) return undefined;
  const [name = '', base64 = '', ...more] = line.slice(LINE_START.length).split(' ');
  const bytes = decodeBase64(base64);
  if (more.length > 0 || !isKeyName(name) || bytes === undefined || bytes.length <= KEY_ID_BYTES)
    return undefined;
  return { name, keyId: bytes.subarray(0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) };
}

/** The line without a newline. */
export const formatSignatureLine = ({ name, keyId, signature }: NoteSignature): string =>
  `${LINE_START}${name} ${encodeBase64(Buffer.concat([keyId, signature]))}`;

/** Whether a key may have this name: not empty, no white space of any script, no plus, no control character. */
export const isKeyName = (name: string): boolean => /^[^\p{White_Space}\p{Cc}\p{Cs}+]+$/u.test(name);

/** SHA-256(name || 0x0A || type || public key)[:4], C2SP signed-note "Signatures". */
export const keyId = (name: string, type: number, publicKey: Uint8Array): Uint8Array =>
  hash(
    'sha256',
    Buffer.concat([Buffer.from(`${name}\n`), Uint8Array.of(type), publicKey]),
    'buffer',
  ).subarray(0, KEY_ID_BYTES);

/** Whether there is an ASCII control character other than newline. */
function hasControls(text: string): boolean {
  for (let place = 0; place < text.length; place += 1) {
    if (text.charCodeAt(place) < 0x20 && text[place] !== '\n') return true;
  }
  return false;
}
