import * as z from 'zod/mini';
import { ERROR_CODES } from './errors.ts';
import { TENANT_ID } from './gateway-key.ts';
import { zoneSchema } from './tenant.ts';
import type { Zone } from './zones.ts';

export const ASSERTION_ISSUER = 'residency-edge';

/** `typ` of the assertion on a forwarded request. */
export const ASSERTION_TYPE = 'residency-assertion+jwt';

/** `typ` of the assertion that reports a refusal; neither kind is accepted where the other belongs. */
export const REFUSAL_TYPE = 'residency-refusal+jwt';

/** Path on an origin that takes the edge's reports of its own refusals. */
export const REFUSALS_PATH = '/internal/refusals';

/** Seconds from `iat` to `exp`. */
export const ASSERTION_LIFETIME_S = 60;

export const assertionAudience = (zone: Zone): string => `residency-origin:${zone}`;

const common = {
  iss: z.literal(ASSERTION_ISSUER),
  aud: z.string(),
  jti: z.string().check(z.minLength(16), z.maxLength(64)),
  rid: z.string().check(z.regex(/^[A-Za-z0-9._:-]{1,128}$/)),
  jur: zoneSchema,
  htm: z.string().check(z.maxLength(16)),
  htu: z.string(),
  iat: z.number(),
  exp: z.number(),
  colo: z.optional(z.string().check(z.regex(/^[A-Z]{3}$/))),
};

/** Claims of the assertion by which the edge vouches for one request (times in seconds, RFC 7519). */
export const assertionSchema = z.object({
  ...common,
  sub: z.string().check(z.regex(TENANT_ID)),
  /** Version of the tenant's KV entry that the edge decided on. */
  tv: z.int(),
});

export type AssertionClaims = z.infer<typeof assertionSchema>;

/** Claims of the report of a refusal at the edge: facts from headers alone, and none that a caller can word. */
export const refusalReportSchema = z.object({
  ...common,
  /** Missing where the refused request named no tenant. */
  sub: z.optional(z.string().check(z.regex(TENANT_ID))),
  refusal: z.object({
    code: z.enum(ERROR_CODES),
    status: z.int(),
    route: z.optional(z.string().check(z.maxLength(64))),
    jurisdiction_claimed: z.optional(zoneSchema),
  }),
});

export type RefusalReport = z.infer<typeof refusalReportSchema>;
