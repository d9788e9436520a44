import { at, type Bytes, fromBase64, fromDecimal } from './encoding.ts';
import { Fault } from './fault.ts';
import { COSIGNATURE, cosignedAt, ED25519, linesOf, parseNote, readVkey, requireSignature } from './note.ts';

export interface TreeHead {
  readonly origin: string;
  readonly size: number;
  readonly root: Bytes;
}

export interface Checkpoint extends TreeHead {
  /** Witnesses (vkey) whose cosignature holds, and when each cosigned, in Unix seconds. */
  readonly cosigned: ReadonlyMap<string, number>;
}

/** Reads a C2SP tlog-checkpoint under the log's vkey; throws Fault where it is not one of that log. */
export async function openCheckpoint(
  signed: string,
  vkey: string,
  witnesses: readonly string[] = [],
): Promise<Checkpoint> {
  const key = await readVkey(vkey, ED25519);
  const note = parseNote(signed);
  await requireSignature(note, key);
  const head = readTreeHead(note.text);
  if (head.origin !== key.name) throw new Fault('other_log', `a checkpoint of ${head.origin}`);
  const cosigned = new Map<string, number>();
  for (const witness of witnesses) {
    const time = await cosignedAt(note, await readVkey(witness, COSIGNATURE));
    if (time !== undefined) cosigned.set(witness, time);
  }
  return { ...head, cosigned };
}

/** Reads the text of a checkpoint, signed or not: origin, size, root, and extensions that are not looked at. */
export function readTreeHead(text: string): TreeHead {
  const lines = linesOf(text);
  if (lines.includes('')) throw new Fault('malformed', 'empty line in a checkpoint');
  const root = fromBase64(at(lines, 2));
  if (root.length !== 32) throw new Fault('malformed', 'root of another length');
  return { origin: at(lines, 0), size: fromDecimal(at(lines, 1)), root };
}
