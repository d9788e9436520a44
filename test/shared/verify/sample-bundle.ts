import { hash } from 'node:crypto';
import { encodeBase64 } from '../../../shared/base64.ts';
import {
  BUNDLE_FILES,
  joinNotes,
  type Manifest,
  type ProofLine,
  policyFile,
  type ReceiptLine,
  tlogProofFile,
} from '../../../shared/bundle.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import { formatTlogProof } from '../../../shared/tlog-proof.ts';
import { referencePath, referenceProof, referenceRoot } from '../merkle/reference-tree.ts';
import { BEGIN, iso, LOG, type SampleLog } from './sample-log.ts';

/** The parts of a bundle before they are written, each of which a test may change. */
export interface Parts {
  manifest: Manifest;
  notes: string[];
  /** Lines without the newline. */
  records: string[];
  proofs: (ProofLine | string)[];
  receipts: (ReceiptLine | string)[];
  tlogProofs: Map<string, string>;
  policies: Map<string, string>;
}

export interface Window {
  /** Sizes of the checkpoints, the first of which the window follows. */
  readonly sizes: readonly number[];
  readonly tenant?: string;
  /** Places whose body was dropped. */
  readonly pruned?: readonly number[];
}

const isAnswer = (record: AuditRecord | undefined): boolean =>
  (record?.kind === 'served' && record.endpoint !== undefined) || record?.code === 'upstream_rejected';

/** A bundle of a log as it should be. */
export async function partsOf(log: SampleLog, window: Window): Promise<Parts> {
  const { sizes, tenant, pruned = [] } = window;
  const [start, end] = [sizes[0] ?? 0, sizes.at(-1) ?? 0];
  const places = Array.from({ length: end - start }, (_, index) => start + index);
  const own = tenant === undefined ? places : places.filter((place) => log.records[place]?.tenant === tenant);
  const answers = own.filter((place) => !pruned.includes(place) && isAnswer(log.records[place]));
  const leaves = log.leaves(end);
  const last = log.checkpoint(end);
  const inclusion = (place: number): ProofLine => ({
    type: 'inclusion',
    record: log.records[place]?.id ?? '',
    index: place,
    tree_size: end,
    hashes: referencePath(place, leaves).map(encodeBase64),
  });
  const edge: ProofLine[] = [
    { type: 'range', size: start, hashes: edgeOf(log.leaves(start)).map(encodeBase64) },
    ...(places.length === 0
      ? []
      : [{ type: 'leaves', first: start, hashes: leaves.slice(start).map(encodeBase64) } as const]),
  ];
  const head = (size: number) => ({ size, at: iso(BEGIN + size * 1_000) });
  return {
    manifest: {
      version: 1,
      log: LOG,
      jurisdiction: 'eu',
      scope: tenant === undefined ? 'log' : 'tenant',
      ...(tenant !== undefined && { tenant }),
      from: head(start).at,
      to: head(end).at,
      created_at: iso(BEGIN + 10_000_000),
      first: head(start),
      last: head(end),
      records: own.length,
      receipts: answers.length,
      declared_regions: [],
      files: [],
    },
    notes: sizes.map((size) => log.checkpoint(size)),
    records: own.map((place) =>
      pruned.includes(place)
        ? JSON.stringify({ leaf: encodeBase64(leaves[place] ?? Buffer.alloc(0)), pruned: true })
        : log.entry(place),
    ),
    proofs: [
      ...(tenant === undefined ? edge : []),
      ...sizes.slice(1).flatMap((to, index): ProofLine[] => {
        const from = sizes[index] ?? 0;
        const hashes = from === 0 || from === to ? [] : referenceProof(from, log.leaves(to));
        return [{ type: 'consistency', from, to, hashes: hashes.map(encodeBase64) }];
      }),
      ...(tenant === undefined ? answers : own).map(inclusion),
    ],
    receipts: await Promise.all(
      answers.map(async (place) => ({
        request_id: log.records[place]?.request_id ?? '',
        record: log.records[place]?.id ?? '',
        receipt: await log.receipt(place),
      })),
    ),
    tlogProofs: new Map(
      answers.map((place) => [
        tlogProofFile(log.records[place]?.id ?? ''),
        formatTlogProof({ index: place, hashes: referencePath(place, leaves), checkpoint: last }),
      ]),
    ),
    policies: new Map([
      [
        policyFile('eu-support', /version: (\S+)/.exec(log.policy)?.[1] ?? '', hash('sha256', log.policy)),
        log.policy,
      ],
    ]),
  };
}

/** Roots of the perfect subtrees of a tree, largest first. */
function edgeOf(leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length === 0) return [];
  const largest = 2 ** Math.floor(Math.log2(leaves.length));
  return [referenceRoot(leaves.slice(0, largest)), ...edgeOf(leaves.slice(largest))];
}

const lines = (list: readonly (string | object)[]): string =>
  list.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');

/** Writes the parts as the files of a bundle, with a manifest that lists them as they are. */
export function filesOf(parts: Parts): Map<string, Uint8Array> {
  const texts = new Map<string, string>([
    [BUNDLE_FILES.checkpoints, joinNotes(parts.notes)],
    [BUNDLE_FILES.records, lines(parts.records)],
    [BUNDLE_FILES.proofs, lines(parts.proofs)],
    [BUNDLE_FILES.receipts, lines(parts.receipts)],
    ...parts.tlogProofs,
    ...parts.policies,
  ]);
  const files = new Map([...texts].map(([name, text]) => [name, new Uint8Array(Buffer.from(text))] as const));
  const listed = [...files].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    sha256: hash('sha256', bytes),
  }));
  const manifest = JSON.stringify({ ...parts.manifest, files: listed }, null, 2);
  return new Map([[BUNDLE_FILES.manifest, new Uint8Array(Buffer.from(`${manifest}\n`))], ...files]);
}
