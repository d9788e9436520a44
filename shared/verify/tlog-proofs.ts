import { verifyInclusion } from '../merkle/verify-proof.ts';
import type { CheckpointKeys } from '../open-checkpoint.ts';
import { formatTlogProof, parseTlogProof } from '../tlog-proof.ts';
import { openHead, type SignedHead } from './heads.ts';
import { textOf } from './lines.ts';
import type { ClaimedInclusion } from './proofs.ts';
import type { ProvenRecord } from './records.ts';
import { type About, Faults } from './report.ts';

/** The `tlog-proof` files of a bundle, each of which must prove its record by itself. */
export class TlogProofs {
  readonly #files: ReadonlyMap<string, Uint8Array>;
  readonly #unused: Set<string>;
  readonly #notes: ReadonlyMap<number, SignedHead>;
  readonly #keys: CheckpointKeys;
  readonly #faults: Faults;
  /** What a note came to: thousands of proofs end in the same one. */
  readonly #heads = new Map<string, SignedHead | undefined>();

  constructor(
    files: ReadonlyMap<string, Uint8Array>,
    keys: CheckpointKeys,
    heads: ReadonlyMap<number, SignedHead>,
    faults: Faults,
  ) {
    this.#files = files;
    this.#unused = new Set(files.keys());
    this.#notes = heads;
    this.#keys = keys;
    this.#faults = faults;
    for (const head of heads.values()) this.#heads.set(head.note, head);
  }

  /** @param twin the inclusion proof of the same record that was verified already, if it has one */
  check(
    name: string,
    { leaf }: ProvenRecord,
    twin: ClaimedInclusion | 'malformed' | undefined,
    about: About,
  ): void {
    this.#unused.delete(name);
    const bytes = this.#files.get(name);
    if (bytes === undefined) {
      this.#faults.add('missing', `there is no ${name}`, about);
      return;
    }
    if (twin !== undefined && twin !== 'malformed' && this.#isSame(bytes, twin)) return;
    const proof = parseTlogProof(textOf(bytes) ?? '');
    if (!proof.ok) {
      this.#faults.add('malformed', `${name}: ${proof.error}`, about);
      return;
    }
    const { index, hashes, checkpoint } = proof.value;
    const head = this.#open(checkpoint);
    if (head === undefined) {
      this.#faults.add('forged', `${name}: its checkpoint is not one that the log signed`, about);
      return;
    }
    const { size, root } = head;
    if (!verifyInclusion({ index, size, leaf, root, proof: hashes })) {
      this.#faults.add('forged', `${name}: the proof does not hold`, about);
    }
  }

  /** Whether a file is the proof that was verified already, in its other form. */
  #isSame(bytes: Uint8Array, { index, tree_size, hashes }: ClaimedInclusion): boolean {
    const note = this.#notes.get(tree_size)?.note;
    if (note === undefined) return false;
    return Buffer.from(formatTlogProof({ index, hashes, checkpoint: note })).equals(bytes);
  }

  #open(note: string): SignedHead | undefined {
    const known = this.#heads.get(note);
    if (known !== undefined || this.#heads.has(note)) return known;
    const head = openHead(note, this.#keys, 'checkpoint', new Faults());
    this.#heads.set(note, head);
    return head;
  }

  report(): void {
    for (const name of this.#unused) this.#faults.add('unexpected', `${name} is the proof of no receipt`);
  }
}
