import { type Checkpoint, parseCheckpoint } from './checkpoint.ts';
import { type NoteSignature, parseNote } from './note.ts';
import { attestedBy, isBy } from './note-signature.ts';
import { err, ok, type Result } from './result.ts';
import { isSameKey, isValidAt, type VerifierKey } from './verifier-key.ts';

/** Whose signatures count. A log that rotated its key has several, each of them for both types of signature. */
export interface CheckpointKeys {
  readonly log: readonly VerifierKey[];
  readonly witnesses: readonly VerifierKey[];
}

/** A checkpoint whose signatures hold. */
export interface OpenedCheckpoint {
  readonly checkpoint: Checkpoint;
  /** When the log signed it, as the log attests, in ms since the epoch. */
  readonly at: number;
  /** The key of the log that signed it. */
  readonly key: VerifierKey;
  /** The witnesses that cosigned it, with the time that each attests (ms): distinct keys, none of them the log's. */
  readonly cosignatures: readonly { readonly name: string; readonly at: number }[];
}

/** Why a checkpoint is not believed, and a reason in words for a person. */
export interface CheckpointFault {
  readonly fault: /** Not a signed note, or what was signed is no checkpoint. */
    | 'malformed'
    /** No key of the log signed it both as it is and with a time. */
    | 'unsigned'
    /** A line in the name of a known key does not hold. */
    | 'forged'
    /** The signatures hold, but the key was not valid at the time that they attest. */
    | 'key_not_valid'
    /** It is of another log than the one whose key signed it. */
    | 'other_log';
  readonly reason: string;
}

/** Verifies each line of a known key, and then reads the text. Lines of unknown keys are passed over (C2SP). */
export function openCheckpoint(
  signed: string,
  keys: CheckpointKeys,
): Result<OpenedCheckpoint, CheckpointFault> {
  const note = parseNote(signed);
  if (!note.ok) return err({ fault: 'malformed', reason: note.error });
  const { text, signatures } = note.value;
  const byLog = verified(text, signatures, keys.log);
  const byWitnesses = verified(text, signatures, keys.witnesses);
  const forged = [...byLog, ...byWitnesses].find((line) => !line.holds);
  if (forged !== undefined)
    return err({ fault: 'forged', reason: `the line of ${forged.key.name} is forged` });
  const times = logTimes(byLog);
  const valid = times.find(({ key, at }) => isValidAt(key, at));
  if (times.length === 0)
    return err({ fault: 'unsigned', reason: 'no key of the log signed it with a time' });
  if (valid === undefined)
    return err({ fault: 'key_not_valid', reason: 'the key was not valid at that time' });
  const checkpoint = parseCheckpoint(text);
  if (!checkpoint.ok) return err({ fault: 'malformed', reason: checkpoint.error });
  if (checkpoint.value.origin !== valid.key.name) {
    return err({ fault: 'other_log', reason: `it is not of the log ${valid.key.name}` });
  }
  return ok({ checkpoint: checkpoint.value, ...valid, cosignatures: distinct(byWitnesses, keys.log) });
}

/** A signature line of a known key. */
interface Line {
  readonly key: VerifierKey;
  readonly holds: boolean;
  /** In ms since the epoch, where its type attests a time. */
  readonly at: number | undefined;
}

const verified = (
  text: string,
  signatures: readonly NoteSignature[],
  keys: readonly VerifierKey[],
): readonly Line[] =>
  signatures.flatMap((signature) =>
    keys.filter((key) => isBy(key, signature)).map((key) => ({ key, ...attestedBy(key, text, signature) })),
  );

/** The times attested by keys of the log that also signed the checkpoint as it is. */
const logTimes = (lines: readonly Line[]): readonly { key: VerifierKey; at: number }[] =>
  lines.flatMap(({ key, at }) =>
    at !== undefined && lines.some((line) => line.key.type === 'ed25519' && isSameKey(line.key, key))
      ? [{ key, at }]
      : [],
  );

/** One cosignature for each key pair, as a witness under two names, or the log under another, counts for no more. */
function distinct(lines: readonly Line[], log: readonly VerifierKey[]): { name: string; at: number }[] {
  const counted: VerifierKey[] = [...log];
  const cosignatures: { name: string; at: number }[] = [];
  for (const { key, at } of lines) {
    if (at === undefined || !isValidAt(key, at) || counted.some((other) => isSameKey(other, key))) continue;
    counted.push(key);
    cosignatures.push({ name: key.name, at });
  }
  return cosignatures;
}
