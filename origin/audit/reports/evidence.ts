import { BUNDLE_FILES, type Manifest, manifestSchema } from '../../../shared/bundle.ts';
import type { PolicyInForce } from '../../../shared/policy-in-force.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import type { DeclaredRegions } from '../../../shared/verify/allowed.ts';
import { linesOf } from '../../../shared/verify/lines.ts';
import { PolicyShelf } from '../../../shared/verify/policies.ts';
import { readRecord } from '../../../shared/verify/records.ts';
import { Faults } from '../../../shared/verify/report.ts';

/** What a bundle holds that has been verified: reports are made of this and of nothing else. */
export interface Evidence {
  readonly manifest: Manifest;
  readonly declared: DeclaredRegions;
  /** The policy versions of the bundle, whether or not a record cites them. */
  readonly policies: readonly PolicyInForce[];
  /** The version that a record cites; undefined where it cites none. */
  policyOf(record: AuditRecord): PolicyInForce | undefined;
  /** In the order of the log, without those that are pruned. */
  records(): Iterable<AuditRecord>;
}

/** @param files of a bundle that `verifyBundle` has found to be proven */
export function evidenceOf(files: ReadonlyMap<string, Uint8Array>): Evidence {
  const bytesOf = (name: string) => files.get(name) ?? new Uint8Array();
  const manifest = manifestSchema.parse(
    JSON.parse(Buffer.from(bytesOf(BUNDLE_FILES.manifest)).toString('utf8')),
  );
  const named = [...files].map(([name, bytes]) => ({ name, bytes }));
  const shelf = new PolicyShelf(
    named.filter(({ name }) => name.startsWith('policies/')),
    new Faults(),
  );
  const policyOf = (record: AuditRecord) => {
    const cited = shelf.citedBy(record);
    return cited.ok ? cited.value : undefined;
  };
  return {
    manifest,
    declared: new Map(manifest.declared_regions.map(({ region, country }) => [region, country])),
    policies: shelf.all(),
    policyOf,
    records: () => recordsIn({ name: BUNDLE_FILES.records, bytes: bytesOf(BUNDLE_FILES.records) }),
  };
}

function* recordsIn(file: { readonly name: string; readonly bytes: Uint8Array }): Generator<AuditRecord> {
  for (const { text } of linesOf(file, new Faults())) {
    // A line of a pruned place is no record, and any other was read by the verifier before.
    const record = readRecord(text);
    if (record.ok) yield record.value;
  }
}
