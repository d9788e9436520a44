import { type ErrorCode, errorBody, type Refusal } from '../../shared/errors.ts';

const candidates = [{ endpoint: 'fra', rejected: 'circuit open' }];

/** A refusal has a code of the list, with what belongs to that code and nothing else. */
export const refusals: readonly Refusal[] = [
  { code: 'key_invalid' },
  { code: 'gateway_busy', limit: 'concurrent_requests' },
  { code: 'no_compliant_endpoint', policy: 'p@1', candidates, retryAfter: 5 },
  // @ts-expect-error a code outside the list
  { code: 'teapot' },
  // @ts-expect-error which limit?
  { code: 'gateway_busy' },
  // @ts-expect-error which host?
  { code: 'wrong_host' },
  // @ts-expect-error how large may it be?
  { code: 'body_too_large', limit: 'body_bytes' },
  // @ts-expect-error why?
  { code: 'workload_unknown' },
  // @ts-expect-error not by which policy, nor about which endpoints
  { code: 'region_blocked' },
  // @ts-expect-error not when to try again
  { code: 'no_compliant_endpoint', policy: 'p@1', candidates },
];

/** No refusal takes a text of the caller's, or an endpoint's, along. */
export const saysNoMore: readonly Refusal[] = [
  // @ts-expect-error the key that was presented
  { code: 'key_invalid', key: 'rgk_acme_secret' },
  // @ts-expect-error the model that was asked for
  { code: 'workload_unknown', why: 'not_in_policy', model: 'hello' },
  // @ts-expect-error an endpoint's message
  { code: 'no_compliant_endpoint', policy: 'p@1', candidates, retryAfter: 5, message: 'hello' },
];

export const codes: readonly ErrorCode[] = [
  'misdirected',
  // @ts-expect-error a code outside the list
  'rate_limited',
];

export const bodies: readonly object[] = [
  errorBody({ code: 'key_invalid' }, 'openai', 'id'),
  // @ts-expect-error an envelope that no caller reads
  errorBody({ code: 'key_invalid' }, 'gemini', 'id'),
  // @ts-expect-error a bare code, which could leave its details out
  errorBody('key_invalid', 'openai', 'id'),
];
