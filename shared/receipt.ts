import { z } from 'zod';
import { REGION_SOURCES } from './record.ts';

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
