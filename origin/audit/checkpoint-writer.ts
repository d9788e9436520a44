import { signCheckpoint } from '../../shared/checkpoint.ts';
import { sameBytes } from '../../shared/merkle/hash.ts';
import { consistencyProof, rootOf } from '../../shared/merkle/prove.ts';
import { newTileRoots, type TileRoot } from '../../shared/merkle/tile-roots.ts';
import type { TileHashes } from '../../shared/merkle/tiles.ts';
import { verifyConsistency } from '../../shared/merkle/verify-proof.ts';
import type { NoteSigner } from '../../shared/note-signature.ts';
import type { Clock } from '../clock.ts';
import { type Store, StoreError } from '../store/store.ts';
import type { CheckpointRow } from '../store/tree-table.ts';
import { differs, incomplete, missing, refusedByStore, shorter } from './broken-log.ts';
import { attestedTime, hourClosed, rfc3339 } from './checkpoint-times.ts';
import { hashesWith, storedHashes } from './log-hashes.ts';
import type { SignedHead } from './signed-head.ts';
import { isAhead, readOwn, readSigned, type Signed } from './signed-tree.ts';

export interface WriterParts {
  readonly store: Pick<Store, 'size' | 'hashes' | 'latestCheckpoint' | 'publish'>;
  readonly head: SignedHead;
  readonly clock: Clock;
  /** The log's own key; its name is the log's. */
  readonly signer: NoteSigner;
}

/** The tree at one size, and those of its tile roots that the database does not hold yet. */
interface Grown {
  readonly root: Uint8Array;
  readonly roots: readonly TileRoot[];
  readonly hashes: TileHashes;
}

/**
 * Signs the log's tree, one checkpoint after the other; its calls MUST NOT overlap. Whatever was signed once
 * stays the beginning of all that is signed later: it rejects with BrokenLog where the database cannot hold to
 * that any more, and else as store and file do, after which the next call begins anew.
 */
export class CheckpointWriter {
  readonly #parts: WriterParts;
  /** The largest tree that has been signed, whether or not its checkpoint was kept. */
  #signed: Signed | undefined;

  constructor(parts: WriterParts) {
    this.#parts = parts;
  }

  /** Holds the database against what was signed last, by a process before this one; to be called first. */
  async open(): Promise<CheckpointRow | undefined> {
    const { store, head } = this.#parts;
    const kept = await store.latestCheckpoint();
    const note = await head.read();
    if (kept !== undefined) readOwn(kept.note, this.#parts);
    if (kept !== undefined && note === undefined) throw missing(head.place);
    // An empty file is a person's word that the database is the newest there is.
    const written = note ? readSigned(note, this.#parts) : undefined;
    const size = await store.size();
    for (const signed of [kept, written]) {
      if (signed === undefined) continue;
      if (signed.size > size) throw shorter(head.place, size, signed.size);
      const { root } = await this.#grown(kept, signed.size);
      if (!sameBytes(root, signed.root)) throw differs(head.place, signed.size);
    }
    return await this.#takeUp(kept, written, note);
  }

  async #takeUp(
    kept: CheckpointRow | undefined,
    written: Signed | undefined,
    note = '',
  ): Promise<CheckpointRow | undefined> {
    const inTable = kept && { ...kept, at: Date.parse(kept.at) };
    if (written === undefined || !isAhead(written, inTable)) {
      this.#signed = inTable;
      if (kept !== undefined && note !== kept.note) await this.#parts.head.write(kept.note);
      return kept;
    }
    this.#signed = { ...written, at: written.at ?? inTable?.at };
    // Signed by a process that ended before the database had it: the table is to miss no checkpoint.
    return written.at === undefined ? kept : this.#keep(note, written, written.at, kept);
  }

  /** Signs the tree over all records that are durable now. */
  async write(): Promise<CheckpointRow> {
    const { store, head, clock, signer } = this.#parts;
    const kept = await store.latestCheckpoint();
    // A read of the store sees nothing that is not durable, so no record under a checkpoint can be lost again.
    const size = await store.size();
    const before = this.#signed;
    if (before !== undefined && size < before.size) throw shorter(head.place, size, before.size);
    const at = attestedTime(clock.now(), before?.at);
    if (kept?.size === size && kept.at === rfc3339(at)) return kept;
    const { root, hashes, roots } = await this.#grown(kept, size);
    if (before !== undefined) await this.#holdTo(before, { size, root }, hashes);
    const note = signCheckpoint({ origin: signer.name, size, root }, signer, Math.floor(at / 1_000));
    // From here on it counts as signed, whatever becomes of it.
    this.#signed = { size, root, at };
    // The file first: were the database to have it alone, an older copy of that would not know of it.
    await head.write(note);
    // Nobody is shown it before both have it, because a crash in between must not take back what was shown.
    return this.#keep(note, { size, root }, at, kept, roots);
  }

  async #keep(
    note: string,
    { size, root }: Pick<Signed, 'size' | 'root'>,
    at: number,
    kept: CheckpointRow | undefined,
    roots?: readonly TileRoot[],
  ): Promise<CheckpointRow> {
    const { store, head } = this.#parts;
    const hour = hourClosed(kept && Date.parse(kept.at), at);
    const row = {
      ...{ size, root, at: rfc3339(at), note, cosignatures: [] },
      hour: hour === undefined ? undefined : rfc3339(hour),
    };
    try {
      await store.publish(row, roots ?? (await this.#grown(kept, size)).roots);
    } catch (cause) {
      if (cause instanceof StoreError && cause.kind === 'rejected')
        throw refusedByStore(head.place, cause.message);
      throw cause;
    }
    return { ...row, number: (kept?.number ?? -1) + 1 };
  }

  async #grown(kept: CheckpointRow | undefined, size: number): Promise<Grown> {
    const { store, head } = this.#parts;
    const stored = storedHashes(store);
    try {
      const roots = await newTileRoots(Math.min(kept?.size ?? 0, size), size, stored);
      const hashes = hashesWith(stored, roots);
      return { root: await rootOf(size, hashes), roots, hashes };
    } catch (cause) {
      if (cause instanceof RangeError) throw incomplete(head.place, cause.message);
      throw cause;
    }
  }

  /** Proves to itself, by what an auditor would be shown, that the new tree begins with the one signed before. */
  async #holdTo(
    before: Signed,
    { size, root }: Pick<Signed, 'size' | 'root'>,
    hashes: TileHashes,
  ): Promise<void> {
    const proof = await consistencyProof(before.size, size, hashes);
    const claim = { from: before.size, to: size, fromRoot: before.root, toRoot: root, proof };
    if (!verifyConsistency(claim)) throw differs(this.#parts.head.place, before.size);
  }
}
