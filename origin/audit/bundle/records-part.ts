import { encodeBase64 } from '../../../shared/base64.ts';
import { type ProofLine, type ReceiptLine, tlogProofFile } from '../../../shared/bundle.ts';
import { leafHash, sameBytes } from '../../../shared/merkle/hash.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import { formatTlogProof } from '../../../shared/tlog-proof.ts';
import { carriesReceipt } from '../receipts.ts';
import type { BundleSpools } from './bundle-spools.ts';
import type { LeafProver } from './leaf-prover.ts';
import type { LogCheckpoint, LogEntry } from './log-source.ts';
import { recordLine } from './record-line.ts';

type RecordSpools = Omit<BundleSpools, 'head'>;

/** The records of a window with all that proves each of them. */
export class RecordsPart {
  /** Lines of records and of receipts, and places without a body. */
  records = 0;
  receipts = 0;
  pruned = 0;
  /** Records that do not have the leaf that the log holds. They go into the bundle, and its verifier names them. */
  unlike = 0;
  /** SHA-256 of each policy version that a record cites, with its name. */
  readonly cited = new Map<string, string>();
  readonly regions = new Set<string>();
  readonly #spools: RecordSpools;
  readonly #prover: LeafProver;
  readonly #last: LogCheckpoint;
  readonly #tenant: string | undefined;

  /** @param tenant whose records alone are taken, each with a proof of its own */
  constructor(spools: RecordSpools, prover: LeafProver, last: LogCheckpoint, tenant: string | undefined) {
    this.#spools = spools;
    this.#prover = prover;
    this.#last = last;
    this.#tenant = tenant;
  }

  /** Whether a page has a record whose receipt is asked for. */
  wantsReceipts(page: readonly LogEntry[]): boolean {
    return page.some(({ record }) => record !== null && this.#isOwn(record) && carriesReceipt(record));
  }

  async add(entry: LogEntry, receipts: ReadonlyMap<string, ReceiptLine>): Promise<void> {
    const { seq, leaf, record } = entry;
    if (record === null) this.pruned += 1;
    if (this.#tenant !== undefined && (record === null || !this.#isOwn(record))) return;
    const line = recordLine(entry);
    await this.#spools.records.write(`${line}\n`);
    this.records += 1;
    if (record === null) return;
    if (!sameBytes(leafHash(line), leaf)) this.unlike += 1;
    this.#note(record);
    const isReceipted = carriesReceipt(record);
    if (this.#tenant === undefined && !isReceipted) return;
    const hashes = await this.#prover.prove(seq);
    await this.proof({
      ...{ type: 'inclusion', record: record.id, index: seq },
      ...{ tree_size: this.#last.size, hashes: hashes.map(encodeBase64) },
    });
    if (isReceipted) await this.#receipt(record, receipts.get(record.id), { index: seq, hashes });
  }

  proof(line: ProofLine): Promise<void> {
    return this.#spools.proofs.write(`${JSON.stringify(line)}\n`);
  }

  async #receipt(
    { id }: AuditRecord,
    line: ReceiptLine | undefined,
    proof: { readonly index: number; readonly hashes: readonly Uint8Array[] },
  ): Promise<void> {
    // Records are dropped page by page, so what was there a moment ago can be gone.
    if (line === undefined) throw new Error('records were pruned while they were read; export it again');
    const { receipts, tlogProofs } = this.#spools;
    await receipts.write(`${JSON.stringify(line)}\n`);
    await tlogProofs.write(formatTlogProof({ ...proof, checkpoint: this.#last.note }));
    tlogProofs.end(tlogProofFile(id));
    this.receipts += 1;
  }

  #note({ policy = '', policy_version = '', policy_sha256, provider_region, serving_region }: AuditRecord) {
    if (policy_sha256 !== undefined) this.cited.set(policy_sha256, `${policy}@${policy_version}`);
    for (const region of [provider_region, serving_region]) if (region) this.regions.add(region);
  }

  #isOwn({ tenant }: AuditRecord): boolean {
    return this.#tenant === undefined || tenant === this.#tenant;
  }
}
