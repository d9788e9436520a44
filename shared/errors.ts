import { ERRORS, type ErrorCode, type ErrorRow, type Refusal } from './error-codes.ts';
import type { Api } from './routes.ts';

export {
  ERROR_CODES,
  ERRORS,
  type ErrorCode,
  type Refusal,
  type RejectedCandidate,
  retryAfterOf,
  statusOf,
} from './error-codes.ts';

/** What the caller is told: made from the refusal alone, and never from anything the request contained. */
function messageOf(refusal: Refusal): string {
  switch (refusal.code) {
    case 'jurisdiction_missing':
      return 'Send the header x-jurisdiction with one zone tag, for example "eu". It is never defaulted.';
    case 'jurisdiction_unknown':
      return 'x-jurisdiction is not a known zone tag. Tags are lower case, for example "eu", "us" or "au"; a country or cloud region is not one.';
    case 'jurisdiction_ambiguous':
      return 'x-jurisdiction was sent more than once with different values. Send it once.';
    case 'tenant_missing':
      return 'No tenant is named. Send x-tenant-id, or a whole gateway key of the form rgk_<tenant>_<secret>.';
    case 'tenant_invalid':
      return 'x-tenant-id is not a tenant id: one value of lower-case letters, digits and hyphens, 63 characters at most.';
    case 'tenant_unknown':
      return 'This tenant is not known to the gateway. Ask the operator to create it.';
    case 'tenant_mismatch':
      return 'x-tenant-id and the gateway key name different tenants. Send the key of the tenant you name.';
    case 'jurisdiction_mismatch':
      return 'x-jurisdiction is not the jurisdiction that this tenant is registered in. Nothing was forwarded.';
    case 'tenant_suspended':
      return 'This tenant is suspended. Ask the operator.';
    case 'tenant_moving':
      return 'This tenant is being moved between jurisdictions and is not served meanwhile. Try again later.';
    case 'lookup_unavailable':
      return 'The tenant could not be looked up, so the call was refused. Try again.';
    case 'origin_unavailable':
      return "The origin of this tenant's jurisdiction cannot be reached. No other jurisdiction is tried.";
    case 'wrong_host':
      return `This tenant is served on the host ${refusal.host} only. The request body was not read.`;
    case 'gateway_busy':
      return `The gateway is at its limit ${refusal.limit}. Try again shortly.`;
    case 'assertion_invalid':
      return 'The request carries no valid edge assertion. Send it to the gateway host, not to an origin.';
    case 'key_missing':
      return 'No gateway key was sent. Send "authorization: Bearer rgk_…" or "x-api-key: rgk_…".';
    case 'key_invalid':
      return 'The gateway key is not valid for this tenant.';
    case 'key_revoked':
      return 'The gateway key has been revoked or has expired. Use a current key.';
    case 'misdirected':
      return 'This origin does not serve that tenant or jurisdiction. The request body was not read.';
    case 'body_invalid':
      return `The request body cannot be used: ${refusal.why}.`;
    case 'body_too_large':
      return `The request is larger than the limit ${refusal.limit} of ${refusal.bytes} bytes.`;
    case 'workload_unknown':
      return WORKLOAD_UNKNOWN[refusal.why];
    case 'route_unknown':
      return 'There is no such route, or not with this method.';
    case 'idempotency_in_flight':
      return 'A call with this idempotency-key is still running. Wait for it to end.';
    case 'model_not_allowed':
      return `The policy ${refusal.policy} does not allow this caller the model or workload.`;
    case 'region_blocked':
      return `The policy ${refusal.policy} or the team's region lock leaves no endpoint for this call, whatever their health.`;
    case 'no_compliant_endpoint':
      return `No endpoint that the policy ${refusal.policy} allows can be used now. The call was not sent elsewhere.`;
    case 'region_violation':
      return 'The endpoint did not show that it ran inside the allowed regions. Its answer is withheld.';
    case 'upstream_rejected':
      return 'The endpoint rejected the request.';
    case 'upstream_interrupted':
      return 'The answer was interrupted before its end. It was not continued elsewhere.';
    case 'ledger_unavailable':
      return 'The audit log is not available, so nothing was forwarded. Try again.';
  }
}

const WORKLOAD_UNKNOWN = {
  unnamed:
    'No workload is named. Put it into the body as "model", or send x-workload where the body has none.',
  not_in_policy:
    'The workload named by "model" or x-workload is not in the tenant\'s policy. GET /v1/models lists those that are.',
  other_api:
    'The workload has no endpoint of the API you speak, but has one of the other (OpenAI or Anthropic). Call it with that API.',
} as const;

function typeOf(code: ErrorCode, api: Api): string {
  const row: ErrorRow = ERRORS[code];
  if (row.type !== undefined) return row.type;
  switch (row.status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return api === 'anthropic' ? 'request_too_large' : 'invalid_request_error';
    case 502:
    case 503:
      return api === 'anthropic' ? 'api_error' : 'server_error';
    default:
      return 'invalid_request_error';
  }
}

function paramOf(refusal: Refusal): string | null {
  switch (refusal.code) {
    case 'jurisdiction_missing':
    case 'jurisdiction_unknown':
    case 'jurisdiction_ambiguous':
    case 'jurisdiction_mismatch':
      return 'x-jurisdiction';
    case 'tenant_missing':
    case 'tenant_invalid':
      return 'x-tenant-id';
    case 'workload_unknown':
    case 'model_not_allowed':
      return 'model';
    case 'body_invalid':
      return refusal.param ?? null;
    default:
      return null;
  }
}

/**
 * The error body in the envelope of the caller's API: OpenAI's `{"error":{…}}`, or Anthropic's
 * `{"type":"error","error":{…},"request_id"}`. Also the data of the error event of an interrupted stream.
 */
export function errorBody(refusal: Refusal, api: Api, requestId: string): object {
  const error = {
    message: messageOf(refusal),
    type: typeOf(refusal.code, api),
    ...(api === 'openai' && { param: paramOf(refusal) }),
    code: refusal.code,
    request_id: requestId,
    ...('policy' in refusal && { policy: refusal.policy }),
    ...('candidates' in refusal && { candidates: refusal.candidates }),
  };
  return api === 'anthropic' ? { type: 'error', error, request_id: requestId } : { error };
}
