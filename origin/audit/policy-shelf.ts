import { type Clock, timestamp } from '../clock.ts';
import type { PolicyTable } from '../store/policy-table.ts';

/** What the log needs of a policy in force. */
export interface PolicyNow {
  readonly name: string;
  readonly version: string;
  readonly stream: Uint8Array;
  readonly sha256: string;
  /** Days that records are kept at least; missing where they are kept for ever. */
  readonly retentionDays?: number;
}

/**
 * Keeps the streams of the policies in force, so that the region and the retention of a record can be held
 * against the words of its time. To be called before the first record that cites them. Rejects with StoreError.
 */
export async function shelve(
  store: Pick<PolicyTable, 'keepPolicies'>,
  clock: Clock,
  policies: Iterable<PolicyNow>,
): Promise<void> {
  const at = timestamp(clock);
  const rows = [...policies].map(({ sha256, name, version, stream }) => ({
    ...{ sha256, name, version, stream },
    at,
  }));
  await store.keepPolicies(rows);
}
