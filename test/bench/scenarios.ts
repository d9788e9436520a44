import type { Scenario } from './scenario.ts';
import { evidenceCost } from './scenarios/evidence-cost.ts';
import { proof } from './scenarios/proof.ts';
import { storeWrites } from './scenarios/store-writes.ts';
import { verifyReceipts } from './scenarios/verify-receipts.ts';
import { verifyRecords } from './scenarios/verify-records.ts';

/** All there are, in the order in which they run. */
export const SCENARIOS: readonly Scenario[] = [
  verifyRecords,
  verifyReceipts,
  proof,
  storeWrites,
  evidenceCost,
];
