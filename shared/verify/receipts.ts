import { type ReceiptLine, tlogProofFile } from '../bundle.ts';
import type { CheckpointKeys } from '../open-checkpoint.ts';
import { policyLabel } from '../policy-in-force.ts';
import { type ReceiptClaims, receiptClaims } from '../receipt.ts';
import type { AuditRecord } from '../record.ts';
import { type DeclaredRegions, notAllowed } from './allowed.ts';
import type { ClaimedBundle } from './files.ts';
import { receiptOpener } from './jws.ts';
import type { Ground } from './placing.ts';
import { PolicyShelf } from './policies.ts';
import { includes } from './proofs.ts';
import { contradiction, receiptOf } from './receipt-claims.ts';
import { ReceiptLines } from './receipt-lines.ts';
import type { ProvenRecord } from './records.ts';
import type { About, Faults, ProvenReceipt } from './report.ts';
import { TlogProofs } from './tlog-proofs.ts';
import type { TrustedKey } from './trust.ts';

/** The receipts of a bundle. Each is held against the record that it commits to when that record is proven. */
export class ReceiptBook {
  readonly proven: ProvenReceipt[] = [];
  /** How many there are, proven or not. */
  readonly size: number;
  readonly #bundle: ClaimedBundle;
  readonly #ground: Ground;
  readonly #faults: Faults;
  readonly #opener: ReturnType<typeof receiptOpener>;
  readonly #policies: PolicyShelf;
  readonly #declared: DeclaredRegions;
  readonly #tlogProofs: TlogProofs;
  readonly #lines: ReceiptLines;

  constructor(
    bundle: ClaimedBundle,
    ground: Ground,
    keys: readonly TrustedKey[],
    checkpoints: CheckpointKeys,
  ) {
    this.#bundle = bundle;
    this.#ground = ground;
    this.#faults = ground.faults;
    this.#opener = receiptOpener(keys);
    this.#policies = new PolicyShelf(bundle.policies, ground.faults);
    this.#declared = new Map(
      bundle.manifest.declared_regions.map(({ region, country }) => [region, country]),
    );
    this.#tlogProofs = new TlogProofs(bundle.tlogProofs, checkpoints, ground.heads, ground.faults);
    this.#lines = new ReceiptLines(bundle.receipts, ground.faults);
    this.size = this.#lines.size;
  }

  see(proven: ProvenRecord): void {
    const { record, place } = proven;
    const about: About = { request_id: record.request_id, record: record.id, place };
    const line = this.#lines.take(record.id);
    if (line === undefined) {
      if (record.kind !== 'served' || record.endpoint === undefined) return;
      this.#faults.add('missing', 'there is no receipt of this answer', about);
      return;
    }
    this.#checkProofs(proven, about);
    this.#checkPolicy(record, about);
    if (this.#holds(line, proven, about)) this.proven.push(receiptOf(record, place));
  }

  #holds(line: ReceiptLine, { record, leaf }: ProvenRecord, about: About): boolean {
    const claims = this.#open(line, about);
    if (claims === undefined) return false;
    if (claims.rec !== record.id || claims.rid !== line.request_id) {
      const words = `the receipt is of the call ${claims.rid} (record ${claims.rec})`;
      this.#faults.add('moved', words, { ...about, request_id: line.request_id });
      return false;
    }
    const says = contradiction(claims, receiptClaims(record, leaf, this.#bundle.manifest.log));
    if (says !== undefined) this.#faults.add('contradicts', says, about);
    return says === undefined;
  }

  #open(line: ReceiptLine, about: About): ReceiptClaims | undefined {
    const opened = this.#opener(line.receipt);
    if (!opened.ok) {
      this.#faults.add(opened.error.fault, `the receipt: ${opened.error.reason}`, about);
      return undefined;
    }
    const { log } = this.#bundle.manifest;
    if (opened.value.iss === log) return opened.value;
    this.#faults.add('other_log', `the receipt is of the log ${opened.value.iss}, not of ${log}`, about);
    return undefined;
  }

  #checkProofs(proven: ProvenRecord, about: About): void {
    const { proofs, heads } = this.#ground;
    const proof = proofs.inclusions.of(proven.record.id);
    if (proof === undefined) this.#faults.add('missing', 'there is no inclusion proof of its record', about);
    else if (proof === 'malformed') {
      this.#faults.add('malformed', 'the inclusion proof of its record is no proof', about);
    } else if (!includes(proof, proven.leaf, heads)) {
      this.#faults.add('forged', 'the inclusion proof of its record does not hold', about);
    }
    this.#tlogProofs.check(tlogProofFile(proven.record.id), proven, proof, about);
  }

  #checkPolicy(record: AuditRecord, about: About): void {
    const cited = this.#policies.citedBy(record);
    if (!cited.ok) {
      this.#faults.add(cited.error.fault, cited.error.reason, about);
      return;
    }
    const why = notAllowed(record, cited.value, this.#declared);
    if (why !== undefined) {
      this.#faults.add('not_allowed', `${why} (${policyLabel(cited.value.document)})`, about);
    }
  }

  /** At the end: names each receipt whose record was not proven, and each proof that belongs to nothing. */
  report(): void {
    for (const line of this.#lines.rest()) {
      const about: About = { request_id: line.request_id, record: line.record };
      if (this.#open(line, about) !== undefined) {
        this.#faults.add(
          'missing',
          'the record that the receipt commits to is not among those proven',
          about,
        );
      }
    }
    this.#tlogProofs.report();
  }
}
