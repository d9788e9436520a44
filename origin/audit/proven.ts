import { encodeBase64, encodeBase64url } from '../../shared/base64.ts';
import { consistencyProof, inclusionProof } from '../../shared/merkle/prove.ts';
import type { TileHashes } from '../../shared/merkle/tiles.ts';
import { formatTlogProof } from '../../shared/tlog-proof.ts';
import type { SequencedRow } from '../store/store.ts';
import type { CheckpointRow } from '../store/tree-table.ts';
import { cosignedNote } from './cosigned.ts';
import type { Published } from './published.ts';

/** How far a record is on its way to being evidence that nobody can take back. A place comes with the commit. */
export type RecordState = 'recorded' | 'sequenced' | 'published' | 'witnessed';

export const stateOf = (seq: number, { latest, witnessed }: Published): RecordState => {
  if (seq < (witnessed?.size ?? 0)) return 'witnessed';
  return seq < (latest?.size ?? 0) ? 'published' : 'sequenced';
};

/**
 * The checkpoint to prove places up to `seq` under: one that is witnessed if it reaches so far and is larger than
 * `since`, else the newest, which perhaps does not reach so far either.
 */
export function checkpointFor(
  { latest, witnessed }: Published,
  seq: number,
  since: number,
): CheckpointRow | undefined {
  const reaches = witnessed !== undefined && witnessed.size > seq && witnessed.size > since;
  return reaches ? witnessed : latest;
}

/** A record with the proof that it is in the tree of a checkpoint, where that covers it. Hashes in base64. */
export async function proven(
  { seq, leaf, canonical }: SequencedRow,
  checkpoint: CheckpointRow | undefined,
  hashes: TileHashes,
) {
  const record: unknown = canonical === undefined ? null : JSON.parse(canonical);
  const shown = { seq, leaf: encodeBase64url(leaf), record };
  if (checkpoint === undefined || seq >= checkpoint.size) return { ...shown, proof: null, tlog_proof: null };
  const proof = await inclusionProof(seq, checkpoint.size, hashes);
  return {
    ...shown,
    proof: { tree_size: checkpoint.size, index: seq, hashes: proof.map(encodeBase64) },
    tlog_proof: formatTlogProof({ index: seq, hashes: proof, checkpoint: cosignedNote(checkpoint) }),
  };
}

/** That the tree of `since` leaves begins the one of a checkpoint; null where that one is smaller. */
export async function provenSince(
  since: number,
  checkpoint: CheckpointRow | undefined,
  hashes: TileHashes,
): Promise<{ readonly from: number; readonly to: number; readonly hashes: readonly string[] } | null> {
  if (checkpoint === undefined || since > checkpoint.size) return null;
  const proof = await consistencyProof(since, checkpoint.size, hashes);
  return { from: since, to: checkpoint.size, hashes: proof.map(encodeBase64) };
}
