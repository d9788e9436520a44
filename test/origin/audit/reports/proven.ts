import { type Evidence, evidenceOf } from '../../../../origin/audit/reports/evidence.ts';
import { verifyBundle } from '../../../../shared/verify/verify.ts';
import { filesOf, partsOf } from '../../../shared/verify/sample-bundle.ts';
import type { SampleLog } from '../../../shared/verify/sample-log.ts';

/** A policy with a graph of two endpoints, a model of its own, and an exception. */
export const POLICY = `policy: eu-support
version: 2.0.0
jurisdiction: eu
author: a.person
reviewer: b.person
allow: { countries: [DE, IE, FR], regions: [eu-central-1, eu-west-1, eu-west-3], models: [vendor.large-20260101, vendor.old-20250101] }
workloads:
  support-chat:
    class: large
    failover: { primary: fra, secondary: [dub] }
    health: { max_ttft_ms: 800 }
tenants:
  agency-de: { allow: { countries: [DE] } }
`;

/** The evidence of a whole log, from a bundle that holds. */
export async function proven(log: SampleLog): Promise<Evidence> {
  const files = filesOf(await partsOf(log, { sizes: [0, log.size] }));
  const report = verifyBundle(files, log.trust(), { strict: false });
  if (!report.ok) throw new Error(JSON.stringify(report.faults));
  return evidenceOf(files);
}
