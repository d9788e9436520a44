/** Why an endpoint that was considered is not a candidate, in words for the person on call. */
export interface RejectedCandidate {
  readonly endpoint: string;
  readonly rejected: string;
}

/** What every refusal of a code has in common. */
export interface ErrorRow {
  readonly status: number;
  /** `error.type` where the code needs another than its status gives. */
  readonly type?: string;
  /** Seconds for `Retry-After` where the refusal itself names none. */
  readonly retryAfter?: number;
}

/** The closed list of error codes. `upstream_rejected` has the upstream's own status instead of the one here. */
export const ERRORS = {
  jurisdiction_missing: { status: 400 },
  jurisdiction_unknown: { status: 400 },
  jurisdiction_ambiguous: { status: 400 },
  tenant_missing: { status: 400 },
  tenant_invalid: { status: 400 },
  tenant_unknown: { status: 403 },
  tenant_mismatch: { status: 403 },
  jurisdiction_mismatch: { status: 403 },
  tenant_suspended: { status: 403 },
  tenant_moving: { status: 503, retryAfter: 60 },
  lookup_unavailable: { status: 503, retryAfter: 2 },
  origin_unavailable: { status: 503, retryAfter: 2 },
  wrong_host: { status: 421 },
  gateway_busy: { status: 503, retryAfter: 1 },
  assertion_invalid: { status: 401 },
  key_missing: { status: 401 },
  key_invalid: { status: 401 },
  key_revoked: { status: 401 },
  misdirected: { status: 421 },
  body_invalid: { status: 400 },
  body_too_large: { status: 413 },
  workload_unknown: { status: 404 },
  route_unknown: { status: 404 },
  idempotency_in_flight: { status: 409, retryAfter: 1 },
  model_not_allowed: { status: 403 },
  region_blocked: { status: 403 },
  no_compliant_endpoint: { status: 503, type: 'no_compliant_endpoint', retryAfter: 5 },
  region_violation: { status: 502 },
  upstream_rejected: { status: 400 },
  upstream_interrupted: { status: 502 },
  ledger_unavailable: { status: 503, retryAfter: 2 },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];

/** What some refusals carry beside their code. A code that is not named here carries nothing. */
interface Details {
  tenant_moving: { readonly retryAfter?: number };
  wrong_host: { readonly host: string };
  gateway_busy: { readonly limit: string };
  body_invalid: { readonly why: string; readonly param?: string };
  body_too_large: { readonly limit: string; readonly bytes: number };
  workload_unknown: { readonly why: 'unnamed' | 'not_in_policy' | 'other_api' };
  idempotency_in_flight: { readonly retryAfter?: number };
  model_not_allowed: Decided;
  region_blocked: Decided;
  no_compliant_endpoint: Decided & { readonly retryAfter: number };
  region_violation: Partial<Pick<Decided, 'policy'>>;
}

interface Decided {
  /** `name@version` of the policy that decided. */
  readonly policy: string;
  readonly candidates: readonly RejectedCandidate[];
}

/** A decision not to serve a call, with what is known of why. */
export type Refusal = {
  [Code in ErrorCode]: { readonly code: Code } & (Code extends keyof Details ? Details[Code] : unknown);
}[ErrorCode];

/** HTTP status of a refusal. */
export const statusOf = (refusal: Refusal): number => ERRORS[refusal.code].status;

/** Seconds for `Retry-After`, or undefined where waiting does not help. */
export function retryAfterOf(refusal: Refusal): number | undefined {
  const row: ErrorRow = ERRORS[refusal.code];
  return ('retryAfter' in refusal ? refusal.retryAfter : undefined) ?? row.retryAfter;
}
