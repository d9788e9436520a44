import { proofLineSchema } from '../bundle.ts';
import { HASH_BYTES } from '../merkle/hash.ts';
import { verifyInclusion } from '../merkle/verify-proof.ts';
import type { SignedHead } from './heads.ts';
import { lineAt, linesOf, type NamedFile, strictJson } from './lines.ts';
import type { Faults } from './report.ts';

/** Hashes in one block of memory, as a log has millions. */
export class LeafList {
  #bytes = Buffer.alloc(1_024 * HASH_BYTES);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(hash: Uint8Array): void {
    if ((this.#length + 1) * HASH_BYTES > this.#bytes.length) {
      this.#bytes = Buffer.concat([this.#bytes, Buffer.alloc(this.#bytes.length)]);
    }
    this.#bytes.set(hash, this.#length * HASH_BYTES);
    this.#length += 1;
  }

  /** The hash at an index; empty beyond the end. */
  at(index: number): Buffer {
    return this.#bytes.subarray(index * HASH_BYTES, Math.min(index + 1, this.#length) * HASH_BYTES);
  }
}

/** An inclusion proof as it was claimed. */
export interface ClaimedInclusion {
  readonly index: number;
  readonly tree_size: number;
  readonly hashes: readonly Uint8Array[];
}

/** What `proofs.jsonl` holds. Nothing of it is verified. */
export interface ClaimedProofs {
  readonly range: { readonly size: number; readonly hashes: readonly Uint8Array[] } | undefined;
  /** The leaf hashes from the place `leavesFirst` on, without a hole. */
  readonly leaves: LeafList;
  readonly leavesFirst: number;
  /** By `from-to`. */
  readonly consistency: ReadonlyMap<string, readonly Uint8Array[]>;
  readonly inclusions: InclusionProofs;
}

/** Inclusion proofs by the id of the record. Each is parsed when it is asked for, and only then. */
export class InclusionProofs {
  readonly #file: NamedFile;
  readonly #starts = new Map<string, number>();
  readonly #unused = new Set<string>();

  constructor(file: NamedFile) {
    this.#file = file;
  }

  /** Notes where a record's proof begins; false where it has one already. */
  note(record: string, start: number): boolean {
    if (this.#starts.has(record)) return false;
    this.#starts.set(record, start);
    this.#unused.add(record);
    return true;
  }

  /** The proof of a record, or undefined where it has none. */
  of(record: string): ClaimedInclusion | 'malformed' | undefined {
    this.#unused.delete(record);
    const start = this.#starts.get(record);
    if (start === undefined) return undefined;
    const line = proofLineSchema.safeParse(JSON.parse(lineAt(this.#file, start)));
    return line.success && line.data.type === 'inclusion' ? line.data : 'malformed';
  }

  /** Records for whose proof nobody has asked. */
  unused(): ReadonlySet<string> {
    return this.#unused;
  }
}

/** Whether a claimed proof shows that the leaf stands in the tree of one of the heads, and of none else. */
export function includes(
  { index, tree_size, hashes }: ClaimedInclusion,
  leaf: Uint8Array,
  heads: ReadonlyMap<number, SignedHead>,
): boolean {
  const head = heads.get(tree_size);
  if (head === undefined) return false;
  return verifyInclusion({ index, size: head.size, leaf, root: head.root, proof: hashes });
}

/** Reads `proofs.jsonl`. */
export function readProofs(file: NamedFile, faults: Faults): ClaimedProofs {
  const inclusions = new InclusionProofs(file);
  const consistency = new Map<string, readonly Uint8Array[]>();
  const leaves = new LeafList();
  let leavesFirst: number | undefined;
  let range: ClaimedProofs['range'];
  const twice = (number: number) =>
    faults.add('duplicate', `${file.name} line ${number}: stands there twice`);
  for (const { number, start, text } of linesOf(file, faults)) {
    const json = strictJson(text);
    const early = inclusionRecord(json);
    if (early !== undefined) {
      if (!inclusions.note(early, start)) twice(number);
      continue;
    }
    const parsed = proofLineSchema.safeParse(json);
    if (!parsed.success) {
      faults.add('malformed', `${file.name} line ${number}: is no proof`);
      continue;
    }
    const line = parsed.data;
    switch (line.type) {
      case 'range':
        if (range !== undefined) twice(number);
        range ??= line;
        break;
      case 'leaves':
        leavesFirst ??= line.first;
        if (line.first !== leavesFirst + leaves.length) {
          faults.add('moved', `${file.name} line ${number}: its leaf hashes do not follow those before`);
        }
        for (const hash of line.hashes) leaves.push(hash);
        break;
      case 'consistency':
        if (consistency.has(`${line.from}-${line.to}`)) twice(number);
        consistency.set(`${line.from}-${line.to}`, line.hashes);
        break;
      case 'inclusion':
        break;
    }
  }
  return { range, leaves, leavesFirst: leavesFirst ?? 0, consistency, inclusions };
}

/** The record of an inclusion line. The rest of the line is looked at when its proof is asked for. */
function inclusionRecord(json: unknown): string | undefined {
  if (typeof json !== 'object' || json === null || !('type' in json) || json.type !== 'inclusion') {
    return undefined;
  }
  return 'record' in json && typeof json.record === 'string' ? json.record : undefined;
}
