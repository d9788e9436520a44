import { decimal, decodeHash, encodeBase64 } from './base64.ts';
import { formatNote, isKeyName } from './note.ts';
import { COSIGNATURE_HEADER, cosignNote, type NoteSigner, signNote } from './note-signature.ts';
import { err, ok, type Result } from './result.ts';

/** The head of a log's tree at one size (C2SP tlog-checkpoint). */
export interface Checkpoint {
  /** Name of the log, and of the key that signs for it. */
  readonly origin: string;
  /** Number of leaves. */
  readonly size: number;
  readonly root: Uint8Array;
}

/** Whether a log may have this name: one of a key, and none that could begin the text of a cosignature. */
export const isLogName = (name: string): boolean => isKeyName(name) && name !== COSIGNATURE_HEADER;

/** The text that is signed: three lines, no extension. */
export const formatCheckpoint = ({ origin, size, root }: Checkpoint): string =>
  `${origin}\n${size}\n${encodeBase64(root)}\n`;

/** Reads the text of a note, without its signatures. To be believed only once a signature over it holds. */
export function parseCheckpoint(text: string): Result<Checkpoint, string> {
  const [origin = '', sizeText = '', rootText = '', ...more] = text.split('\n');
  if (more.length !== 1 || more[0] !== '') return err('a checkpoint has three lines');
  if (!isLogName(origin)) return err('the checkpoint does not name a log');
  const [size, root] = [decimal(sizeText), decodeHash(rootText)];
  if (size === undefined) return err('the size of the tree is no decimal number');
  if (root === undefined) return err('the root of the tree is no hash of 32 bytes in base64');
  return ok({ origin, size, root });
}

/**
 * The signed note of a checkpoint: one line that signs it as it is, one that attests the time (seconds since the
 * epoch). Throws where the name is not the log's, or none for a log.
 */
export function signCheckpoint(checkpoint: Checkpoint, signer: NoteSigner, atSeconds: number): string {
  const { origin } = checkpoint;
  if (!isLogName(origin) || signer.name !== origin)
    throw new TypeError('only a log signs its own checkpoints');
  const text = formatCheckpoint(checkpoint);
  return formatNote({ text, signatures: [signNote(text, signer), cosignNote(text, signer, atSeconds)] });
}
