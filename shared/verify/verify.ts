import { BUNDLE_FILES } from '../bundle.ts';
import { Endings } from './endings.ts';
import { type ClaimedBundle, sortFiles } from './files.ts';
import { checkConsistency, checkWindow, checkWitnesses, type Heads, openHeads, reported } from './heads.ts';
import { checkHeld, heldHead } from './held.ts';
import { type Ground, placedByInclusion, placedByWindow, provenRecords, type Tally } from './placing.ts';
import { readProofs } from './proofs.ts';
import { ReceiptBook } from './receipts.ts';
import { claimedLines, leavesOf } from './records.ts';
import { Faults, type Report } from './report.ts';
import { type ProvenLeaves, provenLeaves } from './tree.ts';
import { checkpointKeys, type Trust } from './trust.ts';

export interface Options {
  /** Whether a run also fails where all proofs hold and what they prove should not have been so. */
  readonly strict: boolean;
}

/**
 * Verifies a bundle by nothing but itself and what the auditor trusts: parse → trust → proof → policy. Never
 * throws, whatever the files hold; each fault is listed, and none keeps the rest from being looked at.
 */
export function verifyBundle(
  files: ReadonlyMap<string, Uint8Array>,
  trust: Trust,
  { strict }: Options,
): Report {
  const faults = new Faults();
  const bundle = sortFiles(files, faults);
  if (bundle === undefined) {
    const nothing = { checkpoints: { count: 0 }, records: { proven: 0, pruned: 0 }, receipts: [] };
    return { ok: false, strict, scope: 'log', ...nothing, faults: faults.listed, more_faults: faults.more };
  }
  const { manifest } = bundle;
  const heads = openHeads(bundle.checkpoints, checkpointKeys(trust, manifest.log), faults);
  const ground = prepared(bundle, heads, trust, faults);
  const { tally, receipts } = examined(bundle, ground, heads, trust);
  return {
    ok: faults.ok(strict),
    strict,
    scope: manifest.scope,
    log: manifest.log,
    jurisdiction: manifest.jurisdiction,
    ...(manifest.tenant !== undefined && { tenant: manifest.tenant }),
    window: { from: manifest.from, to: manifest.to },
    checkpoints: endsOf(heads),
    records: tally,
    receipts: receipts.proven,
    faults: faults.listed,
    more_faults: faults.more,
  };
}

/** Checks the heads against each other and against what the auditor asks for. */
function prepared(
  { manifest, proofs: file }: ClaimedBundle,
  heads: Heads,
  trust: Trust,
  faults: Faults,
): Ground {
  if (trust.log !== undefined && trust.log !== manifest.log) {
    faults.add('other_log', `the bundle is of the log ${manifest.log}, and you trust ${trust.log}`);
  }
  checkWindow(heads, manifest, faults);
  checkWitnesses(heads.at(-1), trust.quorum, faults);
  const proofs = readProofs(file, faults);
  checkConsistency(heads, proofs, faults);
  return { manifest, proofs, heads: new Map(heads.map((head) => [head.size, head])), faults };
}

/** Proves each record, and looks at what it says in the order of the log. */
function examined(
  bundle: ClaimedBundle,
  ground: Ground,
  heads: Heads,
  trust: Trust,
): { readonly tally: Tally; readonly receipts: ReceiptBook } {
  const { manifest, faults, proofs } = ground;
  const keys = checkpointKeys(trust, manifest.log);
  const start = manifest.first === null ? 0 : (heads[0]?.size ?? 0);
  const leaves = leavesOf(bundle.records);
  const window = manifest.scope === 'log' ? provenLeaves(start, heads, proofs, leaves, faults) : undefined;
  const held = heldHead(trust.held, keys, faults);
  if (held !== undefined) checkHeld(held, heads, proofs, window, faults);
  const lines = claimedLines(bundle.records, faults, leaves);
  const placed =
    window === undefined ? placedByInclusion(lines, ground) : placedByWindow(lines, window, ground);
  const tally: Tally = { proven: 0, pruned: 0 };
  const isWhole = start === 0 && (window === undefined || window.count === window.wanted);
  const endings = new Endings(faults, () => isWhole && tally.pruned === 0);
  const receipts = new ReceiptBook(bundle, ground, trust.keys, keys);
  for (const proven of provenRecords(placed, ground, tally)) {
    endings.see(proven);
    receipts.see(proven);
  }
  endings.report(manifest.to);
  receipts.report();
  checkCounts(ground, tally, receipts, window);
  return { tally, receipts };
}

/** What the manifest promised tells what was left out where no proof could. */
function checkCounts(
  { manifest, proofs, faults }: Ground,
  tally: Tally,
  { size }: ReceiptBook,
  window: ProvenLeaves | undefined,
): void {
  if (window === undefined && tally.proven < manifest.records) {
    faults.add('missing', `${manifest.records - tally.proven} of ${manifest.records} records of the tenant`);
  }
  if (size < manifest.receipts) {
    faults.add('missing', `${manifest.receipts - size} of ${manifest.receipts} receipts`);
  }
  for (const record of proofs.inclusions.unused()) {
    faults.add('unexpected', `${BUNDLE_FILES.proofs} has a proof of a record that is not there`, { record });
  }
}

function endsOf(heads: Heads): Report['checkpoints'] {
  const [first, last] = [heads[0], heads.at(-1)];
  if (first === undefined || last === undefined) return { count: 0 };
  return { count: heads.length, first: reported(first), last: reported(last) };
}
