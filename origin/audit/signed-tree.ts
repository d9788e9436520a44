import { type Checkpoint, parseCheckpoint } from '../../shared/checkpoint.ts';
import { parseNote } from '../../shared/note.ts';
import type { NoteSigner } from '../../shared/note-signature.ts';
import { openCheckpoint } from '../../shared/open-checkpoint.ts';
import { verifierKey } from '../../shared/verifier-key.ts';
import { otherLog, unreadable } from './broken-log.ts';
import type { SignedHead } from './signed-head.ts';

/** A tree over which a checkpoint was signed. */
export interface Signed {
  readonly size: number;
  readonly root: Uint8Array;
  /** The time that it attests, in ms since the epoch; undefined where it is by an earlier key of the log. */
  readonly at: number | undefined;
}

interface Own {
  readonly head: SignedHead;
  readonly signer: NoteSigner;
}

/** Keys under which the log's own lines are verified. */
export const ownKeys = ({ name, privateKey }: NoteSigner) => [
  verifierKey(name, 'ed25519', privateKey),
  verifierKey(name, 'cosignature', privateKey),
];

/** What the file holds. After a rotation it is by a key that is not known here: then the tree alone speaks for it. */
export function readSigned(note: string, own: Own): Signed {
  const checkpoint = readOwn(note, own);
  const opened = openCheckpoint(note, { log: ownKeys(own.signer), witnesses: [] });
  if (opened.ok) return { ...checkpoint, at: opened.value.at };
  if (opened.error.fault !== 'unsigned') throw unreadable(own.head.place, opened.error.reason);
  return { ...checkpoint, at: undefined };
}

/** A checkpoint of this log, its signatures aside. Throws BrokenLog where it is none, or one of another log. */
export function readOwn(note: string, { head, signer }: Own): Checkpoint {
  const parsed = parseNote(note);
  const checkpoint = parsed.ok ? parseCheckpoint(parsed.value.text) : parsed;
  if (!checkpoint.ok) throw unreadable(head.place, checkpoint.error);
  const { origin } = checkpoint.value;
  if (origin !== signer.name) throw otherLog(head.place, origin, signer.name);
  return checkpoint.value;
}

/** Whether `signed` was signed after `other`. */
export const isAhead = (signed: Signed, other: Signed | undefined): boolean =>
  other === undefined ||
  signed.size > other.size ||
  (signed.size === other.size && (signed.at ?? 0) > (other.at ?? 0));
