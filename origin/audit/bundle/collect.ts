import { encodeBase64 } from '../../../shared/base64.ts';
import { BUNDLE_FILES, BUNDLE_LIMITS, joinNotes, type Manifest, policyFile } from '../../../shared/bundle.ts';
import { consistencyProof, frontierOf } from '../../../shared/merkle/prove.ts';
import { TILE_WIDTH } from '../../../shared/merkle/tiles.ts';
import type { BundleSpools } from './bundle-spools.ts';
import { LeafProver } from './leaf-prover.ts';
import type { LogSource } from './log-source.ts';
import { manifestOf } from './manifest.ts';
import { policiesInForce } from './policies-in-force.ts';
import { RecordsPart } from './records-part.ts';
import type { Spool } from './spool.ts';
import type { Window } from './window.ts';

/** Places that are read at once. */
const PAGE = 1_000;

/** Room in a bundle for files that are no proofs of receipts. */
const OTHER_FILES = 1_000;

export interface BundleOptions {
  /** Whose records alone the bundle holds; missing for the whole log. */
  readonly tenant?: string;
  /** RFC 3339, milliseconds, UTC. */
  readonly createdAt: string;
  /** Is told how many places of how many have been read. */
  readonly progress?: (done: number, all: number) => void;
}

/** What went into a bundle, and what its reader will ask about. */
export interface Collected {
  readonly manifest: Manifest;
  readonly pruned: number;
  /** Records that are not what the log holds the leaf of. */
  readonly unlike: number;
  /** Policy versions that records cite and that are not kept, `name@version`. */
  readonly unkept: readonly string[];
}

/** Gathers all that a bundle of this window holds. Memory grows by the list of its files, and not by the records. */
export async function collect(
  source: LogSource,
  window: Window,
  spools: BundleSpools,
  options: BundleOptions,
): Promise<Collected> {
  const prover = await LeafProver.over(window.last.size, source.hashes);
  const part = new RecordsPart(spools, prover, window.last, options.tenant);
  await readAll(source, window, part, options);
  await prove(source, window, part, options);
  spools.records.end(BUNDLE_FILES.records);
  spools.receipts.end(BUNDLE_FILES.receipts);
  spools.proofs.end(BUNDLE_FILES.proofs);
  await spools.head.write(joinNotes(window.checkpoints.map(({ note }) => note)));
  spools.head.end(BUNDLE_FILES.checkpoints);
  const unkept = await addPolicies(source, window, part, spools.head, options);
  const manifest = await manifestOf(source, window, part, spools, options);
  return { manifest, pruned: part.pruned, unlike: part.unlike, unkept };
}

async function readAll(
  source: LogSource,
  { first, last }: Window,
  part: RecordsPart,
  { tenant, progress }: BundleOptions,
): Promise<void> {
  const start = first?.size ?? 0;
  for (let next = start; next < last.size; ) {
    const page = await source.entries(next - 1, Math.min(PAGE, last.size - next));
    if (page.length === 0 || page.some(({ seq }, index) => seq !== next + index)) {
      throw new Error(`the log gave other records than those that follow on place ${next}`);
    }
    const lines = part.wantsReceipts(page) ? await source.receipts(next - 1, page.length) : [];
    const receipts = new Map(lines.map((line) => [line.record, line]));
    for (let from = 0; tenant === undefined && from < page.length; from += TILE_WIDTH) {
      const hashes = page.slice(from, from + TILE_WIDTH).map(({ leaf }) => encodeBase64(leaf));
      await part.proof({ type: 'leaves', first: next + from, hashes });
    }
    for (const entry of page) await part.add(entry, receipts);
    if (part.receipts > BUNDLE_LIMITS.files - OTHER_FILES) throw new Error(TOO_MANY);
    next += page.length;
    progress?.(next - start, last.size - start);
  }
}

const TOO_MANY = `a bundle has room for ${BUNDLE_LIMITS.files - OTHER_FILES} receipts: export a shorter time`;

/** That each checkpoint continues the one before, and for a whole log the edge of the tree that it began with. */
async function prove(
  { hashes }: LogSource,
  { first, checkpoints }: Window,
  part: RecordsPart,
  { tenant }: BundleOptions,
): Promise<void> {
  for (const [index, { size: to }] of checkpoints.entries()) {
    const from = checkpoints[index - 1]?.size ?? to;
    if (from === to) continue;
    const proof = await consistencyProof(from, to, hashes);
    await part.proof({ type: 'consistency', from, to, hashes: proof.map(encodeBase64) });
  }
  if (tenant !== undefined || first === undefined || first.size === 0) return;
  const edge = (await frontierOf(first.size, hashes)).hashes();
  await part.proof({ type: 'range', size: first.size, hashes: edge.map(encodeBase64) });
}

/** Gives the names of those that records cite and that are not kept. */
async function addPolicies(
  source: LogSource,
  window: Window,
  { cited }: RecordsPart,
  head: Spool,
  { tenant }: BundleOptions,
): Promise<string[]> {
  const kept = await source.policies();
  const inForce = tenant === undefined ? policiesInForce(kept, window) : [];
  const wanted = new Set([...cited.keys(), ...inForce.map(({ sha256 }) => sha256)]);
  for (const { sha256, name, version } of kept.filter((policy) => wanted.has(policy.sha256))) {
    const stream = await source.policyStream(sha256);
    if (stream === undefined) continue;
    await head.write(stream);
    head.end(policyFile(name, version, sha256));
    cited.delete(sha256);
  }
  return [...cited.values()];
}
