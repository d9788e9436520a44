import { z } from 'zod';
import { ERROR_CODES } from './errors.ts';
import { zoneSchema } from './tenant.ts';

/** Version of the record's form. */
export const RECORD_VERSION = 1;

export const RECORD_KINDS = [
  'refused',
  'pending',
  'served',
  'failed',
  'completed',
  'interrupted',
  'violation',
  'abandoned',
  'control',
] as const;

/** Kinds that end a `pending`; `served` does not, as `completed` or `interrupted` still follows it. */
export const END_KINDS = ['failed', 'completed', 'interrupted', 'violation', 'abandoned'] as const;

/** Where the region of an answer was read, best evidence first. */
export const REGION_SOURCES = ['response_header', 'response_body', 'hostname', 'declared'] as const;
export type RegionSource = (typeof REGION_SOURCES)[number];

const zone = z.custom<z.infer<typeof zoneSchema>>((value) => zoneSchema.safeParse(value).success);
const label = z.string().max(256);
const count = z.number().int().nonnegative();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

const recordFields = {
  v: z.literal(RECORD_VERSION),
  kind: z.enum(RECORD_KINDS),
  id: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/),
  at: z.iso.datetime({ precision: 3 }),
  request_id: z.string().regex(/^[A-Za-z0-9._:-]{1,128}$/),
  /**
   * Id of the `pending` record that this one belongs to. Request ids are the caller's and repeat, so without
   * it nobody could tell which of two calls of one id was left without an end.
   */
  pending_id: label,
  attempt: count,
  tenant: label,
  team: label,
  key_id: label,
  jurisdiction_claimed: zone,
  jurisdiction: zone,
  route: label,
  workload: label,
  class: label,
  /** The policy's reason why this workload is not pinned to the zone; absent where it is. */
  unpinned: label,
  policy: label,
  policy_version: label,
  policy_sha256: sha256,
  endpoint: label,
  provider: label,
  provider_region: label,
  serving_region: label,
  region_source: z.enum(REGION_SOURCES),
  region_verdict: z.enum(['match', 'mismatch', 'unverified']),
  facility: label,
  deployment: label,
  model: label,
  candidates: z.array(z.strictObject({ endpoint: label, rejected: z.string().max(512) })).max(64),
  selection_reason: z.string().max(512),
  code: z.enum(ERROR_CODES),
  status: count,
  upstream_status: count,
  latency_ms: z.number().nonnegative(),
  ttft_ms: z.number().nonnegative(),
  request_bytes: count,
  response_bytes: count,
  input_tokens: count.nullable(),
  output_tokens: count.nullable(),
  streamed: z.boolean(),
  idempotency_key_sha256: sha256,
  colo: z.string().regex(/^[A-Z]{3}$/),
  shadow: label,
  actor: label,
};

/**
 * One immutable line of the audit log. Strict, so that a prompt, a completion or a key has no member to hide
 * in. Times are RFC 3339 in UTC with milliseconds; `*_ms` are milliseconds, `*_bytes` bytes, `*_tokens` tokens
 * as the endpoint counted them, null where it gave no count.
 */
export const recordSchema = z
  .strictObject(recordFields)
  .partial()
  .required({ v: true, kind: true, id: true, at: true, jurisdiction: true });

export type AuditRecord = z.infer<typeof recordSchema>;
export type RecordKind = AuditRecord['kind'];
