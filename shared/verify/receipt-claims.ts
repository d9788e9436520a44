import type { ReceiptClaims } from '../receipt.ts';
import type { AuditRecord } from '../record.ts';
import type { ProvenReceipt } from './report.ts';

/** What a receipt says otherwise than its record; a receipt may be issued later than the record was made. */
export function contradiction(claims: ReceiptClaims, expected: ReceiptClaims): string | undefined {
  const [said, recorded] = [Object.entries({ ...claims, iat: 0 }), new Map(Object.entries(expected))];
  recorded.delete('iat');
  for (const [name, value] of said) {
    if (name !== 'iat' && recorded.get(name) !== value)
      return `the receipt has another ${name} than its record`;
    recorded.delete(name);
  }
  const [left] = recorded.keys();
  return left === undefined ? undefined : `the receipt leaves out ${left}, which its record has`;
}

/** What a record says of the call that was answered. */
export const receiptOf = (record: AuditRecord, place: number): ProvenReceipt => ({
  request_id: record.request_id,
  tenant: record.tenant,
  endpoint: record.endpoint,
  provider: record.provider,
  provider_region: record.provider_region,
  serving_region: record.serving_region,
  region_source: record.region_source,
  facility: record.facility,
  policy: `${record.policy ?? ''}@${record.policy_version ?? ''}`,
  jurisdiction: record.jurisdiction,
  workload: record.workload,
  attempt: record.attempt,
  record: record.id,
  at: record.at,
  place,
});
