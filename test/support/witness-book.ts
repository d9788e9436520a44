import { readTreeHead, type TreeHead } from '../independent/checkpoint.ts';
import { type Bytes, fromBase64, fromDecimal, same, textOf } from '../independent/encoding.ts';
import { Fault } from '../independent/fault.ts';
import {
  ED25519,
  type Note,
  type NoteKey,
  parseNote,
  readVkey,
  requireSignature,
} from '../independent/note.ts';
import { requireConsistency } from '../independent/tree.ts';

/** A request to add a checkpoint, as it was understood. */
export interface Submission {
  readonly old: number;
  readonly proof: readonly Bytes[];
  readonly note: Note;
  readonly head: TreeHead;
}

/** What C2SP tlog-witness answers; a conflict says which size it is that the witness knows. */
export type Verdict =
  | { readonly status: 200 | 400 | 403 | 404 | 422 }
  | { readonly status: 409; readonly size: number };

/** The client must not send more (C2SP tlog-witness). */
const MOST_PROOF_LINES = 63;

/** Reads the body of `add-checkpoint`; throws Fault where it is not one. */
export function readSubmission(body: Uint8Array): Submission {
  const text = textOf(body);
  const cut = text.indexOf('\n\n');
  const [oldLine = '', ...proofLines] = text.slice(0, cut).split('\n');
  if (cut === -1 || !oldLine.startsWith('old ')) throw new Fault('malformed', 'no old size');
  if (proofLines.length > MOST_PROOF_LINES) throw new Fault('too_large', 'too many proof lines');
  const proof = proofLines.map((line) => fromBase64(line));
  if (proof.some(({ length }) => length !== 32)) throw new Fault('malformed', 'a hash of another length');
  const note = parseNote(text.slice(cut + 2));
  return { old: fromDecimal(oldLine.slice('old '.length)), proof, note, head: readTreeHead(note.text) };
}

/** What a witness remembers of each log, and its judgement on what is submitted. */
export class WitnessBook {
  readonly #keys: readonly NoteKey[];
  readonly #heads = new Map<string, TreeHead>();
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(keys: readonly NoteKey[]) {
    this.#keys = keys;
  }

  static async of(logs: readonly string[]): Promise<WitnessBook> {
    return new WitnessBook(await Promise.all(logs.map((vkey) => readVkey(vkey, ED25519))));
  }

  latest(origin: string): TreeHead | undefined {
    return this.#heads.get(origin);
  }

  forget(origin: string): void {
    this.#heads.delete(origin);
  }

  /** One at a time: between the look at the latest size and the new one's place in the book stands no other. */
  judge(submission: Submission): Promise<Verdict> {
    const verdict = this.#turn.then(() => this.#judge(submission));
    this.#turn = verdict.catch(() => undefined);
    return verdict;
  }

  async #judge({ old, proof, note, head }: Submission): Promise<Verdict> {
    const keys = this.#keys.filter(({ name }) => name === head.origin);
    if (keys.length === 0) return { status: 404 };
    if (!(await signedByAny(note, keys))) return { status: 403 };
    if (old > head.size) return { status: 400 };
    const known = this.#heads.get(head.origin);
    if (old !== (known?.size ?? 0)) return { status: 409, size: known?.size ?? 0 };
    if (known?.size === head.size && !same(known.root, head.root)) return { status: 409, size: known.size };
    if (!(await continues(known, head, proof))) return { status: 422 };
    this.#heads.set(head.origin, head);
    return { status: 200 };
  }
}

async function signedByAny(note: Note, keys: readonly NoteKey[]): Promise<boolean> {
  const held = keys.map((key) => holds(requireSignature(note, key)));
  return (await Promise.all(held)).includes(true);
}

async function continues(
  known: TreeHead | undefined,
  head: TreeHead,
  proof: readonly Bytes[],
): Promise<boolean> {
  if (known !== undefined && known.size > 0) return holds(requireConsistency(known, head, proof));
  return proof.length === 0;
}

const holds = (check: Promise<void>): Promise<boolean> =>
  check.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Fault) return false;
      throw error;
    },
  );
