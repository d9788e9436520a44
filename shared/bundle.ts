import { z } from 'zod';
import { decodeHash } from './base64.ts';
import { TENANT_ID } from './gateway-key.ts';
import { TILE_WIDTH } from './merkle/tiles.ts';
import { recordSchema } from './record.ts';
import { isRequestId } from './request-id.ts';
import { ZONES } from './zones.ts';

/** Version of the bundle's form. */
export const BUNDLE_VERSION = 1;

/** The files that every bundle has. */
export const BUNDLE_FILES = {
  manifest: 'manifest.json',
  checkpoints: 'checkpoints.txt',
  records: 'records.jsonl',
  proofs: 'proofs.jsonl',
  receipts: 'receipts.jsonl',
} as const;

/** The `tlog-proof` of the record that a receipt commits to. */
export const tlogProofFile = (recordId: string): string => `proofs/${recordId}.tlog-proof`;

/** The policy stream with this SHA-256 (hex). */
export const policyFile = (name: string, version: string, sha256: string): string =>
  `policies/${name}@${version}-${sha256.slice(0, 8)}.yaml`;

/** Largest bundle that is read: what a log of some two million records comes to. */
export const BUNDLE_LIMITS = {
  /** Bytes of all files together, unpacked. */
  bytes: 2 * 1024 * 1024 * 1024,
  files: 500_000,
  /** Lines of one file. */
  lines: 5_000_000,
  /** Bytes of one line: several times the largest record. */
  lineBytes: 1024 * 1024,
} as const;

/** Hashes of one inclusion or consistency proof at most: a tree whose size is a number is no higher. */
const PROOF_HASHES = 64;

const SHA256 = /^[0-9a-f]{64}$/;
const REGION = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** Hashes of the tree in base64. They are read all at once, as bundles have millions. */
const hashesUpTo = (most: number) =>
  z
    .array(z.string())
    .max(most)
    .transform((texts, context) => {
      const hashes = texts.map(decodeHash).filter((bytes) => bytes !== undefined);
      if (hashes.length === texts.length) return hashes;
      context.addIssue({ code: 'custom', message: 'one is not the base64 of 32 bytes' });
      return z.NEVER;
    });

const size = z.int().nonnegative();
/** Of one inclusion or consistency proof. */
export const proofHashes = hashesUpTo(PROOF_HASHES);
const recordId = recordSchema.shape.id;
const time = z.iso.datetime({ precision: 3 });
const requestId = z.string().refine(isRequestId);
const head = z.strictObject({ size, at: time });

/**
 * `manifest.json`: what the exporter says of the bundle. Claims and no proof, but for `declared_regions`, which
 * is the operator's word in any case: the countries of regions that no catalogue lists.
 */
export const manifestSchema = z.strictObject({
  version: z.literal(BUNDLE_VERSION),
  log: z.string().min(1).max(256),
  jurisdiction: z.enum(ZONES),
  scope: z.enum(['log', 'tenant']),
  /** With the scope `tenant`. */
  tenant: z.string().regex(TENANT_ID).exactOptional(),
  /** The window: begins no earlier than the second of the first checkpoint, or where the log begins. */
  from: time,
  /** Ends no later than the second of the last checkpoint, so that nothing in it is left uncovered. */
  to: time,
  created_at: time,
  /** The checkpoint that the window follows, which is then the first in `checkpoints.txt`; null at the log's begin. */
  first: head.nullable(),
  last: head,
  records: size,
  receipts: size,
  declared_regions: z
    .array(z.strictObject({ region: z.string().regex(REGION), country: z.string().regex(/^[A-Z]{2}$/) }))
    .max(4_096),
  /** Every file but the manifest itself. */
  files: z
    .array(z.strictObject({ name: z.string().max(256), bytes: size, sha256: z.string().regex(SHA256) }))
    .max(BUNDLE_LIMITS.files),
});

/** A line of `records.jsonl` where the record's body was dropped after its retention. Else it is the record itself. */
export const prunedLineSchema = z.strictObject({ leaf: z.string(), pruned: z.literal(true) });

/** A line of `proofs.jsonl`. */
export const proofLineSchema = z.discriminatedUnion('type', [
  /** Scope `log`: the edge of the tree at the first checkpoint, largest subtree first. */
  z.strictObject({ type: z.literal('range'), size, hashes: proofHashes }),
  /** Scope `log`: leaf hashes of the window, in order, from the place `first` on. */
  z.strictObject({ type: z.literal('leaves'), first: size, hashes: hashesUpTo(TILE_WIDTH) }),
  /** Between neighbours of `checkpoints.txt`. */
  z.strictObject({ type: z.literal('consistency'), from: size, to: size, hashes: proofHashes }),
  /** For each receipt, and with the scope `tenant` for each record. */
  z.strictObject({
    type: z.literal('inclusion'),
    record: recordId,
    index: size,
    tree_size: size,
    hashes: proofHashes,
  }),
]);

/** A line of `receipts.jsonl`; `record` is the id of the record that the receipt commits to. */
export const receiptLineSchema = z.strictObject({
  request_id: requestId,
  record: recordId,
  receipt: z.string().max(16_384),
});

export type Manifest = z.output<typeof manifestSchema>;
/** As it is written: hashes in base64. */
export type ProofLine = z.input<typeof proofLineSchema>;
export type PrunedLine = z.input<typeof prunedLineSchema>;
export type ReceiptLine = z.output<typeof receiptLineSchema>;

/** `checkpoints.txt`: signed notes in the order of signing, an empty line between two. */
export const joinNotes = (notes: readonly string[]): string => notes.join('\n');

/** The notes of `checkpoints.txt`: each begins after an empty line that no signature line follows. */
export const splitNotes = (text: string): readonly string[] =>
  text === '' ? [] : text.split(/(?<=\n)\n(?!— )/);
