import { hash } from 'node:crypto';
import { encodeBase64 } from '../../shared/base64.ts';
import { type ProofLine, policyFile, tlogProofFile } from '../../shared/bundle.ts';
import { canonicalJson } from '../../shared/canonical.ts';
import { signCheckpoint } from '../../shared/checkpoint.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { consistencyProof, inclusionProof, rootOf } from '../../shared/merkle/prove.ts';
import { TILE_WIDTH, type TileHashes } from '../../shared/merkle/tiles.ts';
import { formatTlogProof } from '../../shared/tlog-proof.ts';
import { tilesOf } from '../shared/merkle/reference-tree.ts';
import { filesOf, type Parts } from '../shared/verify/sample-bundle.ts';
import { BEGIN, iso, LOG, type SampleLog } from '../shared/verify/sample-log.ts';

/** Records between two checkpoints: samples are a second apart, and a checkpoint closes each hour. */
const HOUR = 3_600;

export interface LogBundle {
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The canonical records, in order. */
  readonly entries: readonly string[];
  readonly receipts: readonly string[];
}

/** The whole of a large log as a bundle. Beside the sample bundles of the tests it is made in linear time. */
export async function bundleOf(log: SampleLog): Promise<LogBundle> {
  const entries = log.records.map(canonicalJson);
  const leaves = entries.map(leafHash);
  const hashes = tilesOf(leaves);
  const sizes = [...Array.from({ length: Math.ceil(log.size / HOUR) }, (_, hour) => hour * HOUR), log.size];
  const notes = await Promise.all(sizes.map((size) => noteOf(log, size, hashes)));
  const served = await Promise.all(
    log.records.flatMap((record, place) => (record.kind === 'served' ? [answer(log, place, hashes)] : [])),
  );
  const parts: Parts = {
    manifest: manifestOf(log, served.length),
    notes,
    records: entries,
    proofs: [...leafLines(leaves), ...(await neighbours(sizes, hashes)), ...served.map(({ line }) => line)],
    receipts: served.map(({ id, request_id, receipt }) => ({ request_id, record: id, receipt })),
    tlogProofs: new Map(
      served.map(({ id, index, path }) => [
        tlogProofFile(id),
        formatTlogProof({ index, hashes: path, checkpoint: notes.at(-1) ?? '' }),
      ]),
    ),
    policies: new Map([[policyFile('eu-support', '1.0.0', hash('sha256', log.policy)), log.policy]]),
  };
  return { files: filesOf(parts), entries, receipts: served.map(({ receipt }) => receipt) };
}

async function noteOf({ key }: SampleLog, size: number, hashes: TileHashes): Promise<string> {
  const checkpoint = { origin: LOG, size, root: await rootOf(size, hashes) };
  return signCheckpoint(checkpoint, { name: LOG, privateKey: key.privateKey }, BEGIN / 1_000 + size);
}

async function answer(log: SampleLog, index: number, hashes: TileHashes) {
  const { id = '', request_id = '' } = log.records[index] ?? {};
  const path = await inclusionProof(index, log.size, hashes);
  const line: ProofLine = {
    type: 'inclusion',
    ...{ record: id, index, tree_size: log.size, hashes: path.map(encodeBase64) },
  };
  return { id, request_id, index, path, line, receipt: await log.receipt(index) };
}

const neighbours = (sizes: readonly number[], hashes: TileHashes): Promise<ProofLine[]> =>
  Promise.all(
    sizes.slice(1).map(async (to, place) => {
      const from = sizes[place] ?? 0;
      const proof = await consistencyProof(from, to, hashes);
      return { type: 'consistency', from, to, hashes: proof.map(encodeBase64) } as const;
    }),
  );

const leafLines = (leaves: readonly Uint8Array[]): ProofLine[] => [
  { type: 'range', size: 0, hashes: [] },
  ...Array.from({ length: Math.ceil(leaves.length / TILE_WIDTH) }, (_, tile) => {
    const first = tile * TILE_WIDTH;
    return {
      type: 'leaves',
      first,
      hashes: leaves.slice(first, first + TILE_WIDTH).map(encodeBase64),
    } as const;
  }),
];

function manifestOf({ size }: SampleLog, receipts: number): Parts['manifest'] {
  const [begin, end] = [iso(BEGIN), iso(BEGIN + size * 1_000)];
  return {
    version: 1,
    ...{ log: LOG, jurisdiction: 'eu', scope: 'log', from: begin, to: end, created_at: end },
    first: { size: 0, at: begin },
    last: { size, at: end },
    ...{ records: size, receipts, declared_regions: [], files: [] },
  };
}
