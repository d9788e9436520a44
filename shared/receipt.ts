import { z } from 'zod';
import { encodeBase64url } from './base64.ts';
import { type AuditRecord, REGION_SOURCES } from './record.ts';

/** `typ` of a receipt. */
export const RECEIPT_TYPE = 'residency-receipt+jwt';

/** Claims of a receipt: what the zone's origin vouches for about one answer, tied to its record by `leaf`. */
export const receiptSchema = z.object({
  /** Name of the zone's log. */
  iss: z.string(),
  /** Seconds since the epoch. */
  iat: z.number(),
  /** Request id. */
  rid: z.string(),
  /** Tenant. */
  sub: z.string(),
  jur: z.string(),
  endpoint: z.string(),
  provider: z.string(),
  provider_region: z.string().optional(),
  serving_region: z.string().optional(),
  region_source: z.enum(REGION_SOURCES).optional(),
  facility: z.string().optional(),
  /** `name@version`. */
  policy: z.string(),
  attempt: z.number().int(),
  /** Id of the record that the receipt commits to. */
  rec: z.string(),
  /** That record's RFC 6962 leaf hash, base64url. */
  leaf: z.string(),
});

export type ReceiptClaims = z.infer<typeof receiptSchema>;

/** What a receipt says of a record; `iat` is the record's own time. @param leaf its RFC 6962 leaf hash, 32 bytes */
export function receiptClaims(record: AuditRecord, leaf: Uint8Array, logName: string): ReceiptClaims {
  return {
    iss: logName,
    iat: Math.floor(Date.parse(record.at) / 1000),
    rid: record.request_id ?? '',
    sub: record.tenant ?? '',
    jur: record.jurisdiction,
    endpoint: record.endpoint ?? '',
    provider: record.provider ?? '',
    ...(record.provider_region !== undefined && { provider_region: record.provider_region }),
    ...(record.serving_region !== undefined && { serving_region: record.serving_region }),
    ...(record.region_source !== undefined && { region_source: record.region_source }),
    ...(record.facility !== undefined && { facility: record.facility }),
    policy: `${record.policy ?? ''}@${record.policy_version ?? ''}`,
    attempt: record.attempt ?? 0,
    rec: record.id,
    leaf: encodeBase64url(leaf),
  };
}
