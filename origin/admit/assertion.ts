import {
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyGetKey,
  type JWTVerifyResult,
  jwtVerify,
} from 'jose';
import {
  ASSERTION_ISSUER,
  ASSERTION_LIFETIME_S,
  type AssertionClaims,
  assertionAudience,
  assertionSchema,
  REFUSAL_TYPE,
  type RefusalReport,
  refusalReportSchema,
} from '../../shared/assertion.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Clock } from '../clock.ts';
import { UsedAssertions } from './used-assertions.ts';

/** Seconds by which the edge's clock may run ahead of this machine's. */
const SKEW_S = 5;

/**
 * Characters of a token at most, before anything of it is parsed: the claims of one request come to about
 * 1,000, and the target that they repeat grows by JSON's escapes and base64 to less than three times its length.
 */
const TOKEN_CHARS = 4_096;
const TOKEN_CHARS_PER_TARGET_CHAR = 3;

/** Why an assertion does not count. For the operator's log; the caller hears `assertion_invalid`. */
export type AssertionFault =
  | 'missing'
  | 'malformed'
  | 'unknown_key'
  | 'signature'
  | 'claim'
  | 'expired'
  | 'not_yet_valid'
  | 'issued_before_start'
  | 'other_request'
  | 'reused'
  | 'memory_full';

export interface AssertedRequest {
  readonly token: string | undefined;
  readonly method: string;
  /** Path and query exactly as received. */
  readonly target: string;
}

export interface AssertionConfig {
  readonly keys: JSONWebKeySet;
  readonly zone: Zone;
  readonly clock: Clock;
  /** ms; an assertion issued earlier may have been used up in the process that ran before this one. */
  readonly startedAt: number;
}

/**
 * Checks the edge's compact JWS (RFC 7515; EdDSA only, RFC 8037): signature by a configured key, kind,
 * audience, time, that it was made for this very method and target, and that it was never used before.
 */
export class AssertionCheck {
  readonly used = new UsedAssertions();
  readonly #config: AssertionConfig;
  readonly #keys: JWTVerifyGetKey;

  constructor(config: AssertionConfig) {
    this.#config = config;
    this.#keys = createLocalJWKSet(config.keys);
  }

  /** The claims by which the edge vouches for a request. */
  async request(request: AssertedRequest): Promise<Result<AssertionClaims, AssertionFault>> {
    const token = await this.#verified(request);
    if (!token.ok) return token;
    const claims = assertionSchema.safeParse(token.value.payload);
    if (!claims.success || token.value.protectedHeader.typ === REFUSAL_TYPE) return err('malformed');
    const fault = this.#unfit(claims.data, request);
    return fault === undefined ? ok(claims.data) : err(fault);
  }

  /** The claims of a report that the edge refused a request. */
  async refusal(request: AssertedRequest): Promise<Result<RefusalReport, AssertionFault>> {
    const token = await this.#verified(request);
    if (!token.ok) return token;
    const claims = refusalReportSchema.safeParse(token.value.payload);
    if (!claims.success || token.value.protectedHeader.typ !== REFUSAL_TYPE) return err('malformed');
    const fault = this.#unfit(claims.data, request);
    return fault === undefined ? ok(claims.data) : err(fault);
  }

  async #verified({ token, target }: AssertedRequest): Promise<Result<JWTVerifyResult, AssertionFault>> {
    if (token === undefined || token === '') return err('missing');
    if (token.length > TOKEN_CHARS + TOKEN_CHARS_PER_TARGET_CHAR * target.length) return err('malformed');
    try {
      const verified = await jwtVerify(token, this.#keys, {
        algorithms: ['EdDSA'],
        issuer: ASSERTION_ISSUER,
        audience: assertionAudience(this.#config.zone),
        requiredClaims: ['iat', 'exp', 'jti'],
        currentDate: new Date(this.#config.clock.now()),
      });
      // A token that names no key would pass wherever there is only one.
      return verified.protectedHeader.kid === undefined ? err('unknown_key') : ok(verified);
    } catch (cause) {
      return err(faultOf(cause));
    }
  }

  #unfit(claims: AssertionClaims | RefusalReport, request: AssertedRequest): AssertionFault | undefined {
    const now = this.#config.clock.now();
    if (claims.htm !== request.method || claims.htu !== request.target) return 'other_request';
    if (claims.exp - claims.iat > ASSERTION_LIFETIME_S) return 'claim';
    if (claims.iat * 1000 > now + SKEW_S * 1000) return 'not_yet_valid';
    if (claims.iat * 1000 < this.#config.startedAt) return 'issued_before_start';
    const use = this.used.use(claims.jti, claims.exp * 1000, now);
    return use === 'first' ? undefined : use;
  }
}

function faultOf(cause: unknown): AssertionFault {
  if (cause instanceof errors.JWTExpired) return 'expired';
  if (cause instanceof errors.JWTClaimValidationFailed) return 'claim';
  if (cause instanceof errors.JWSSignatureVerificationFailed) return 'signature';
  if (cause instanceof errors.JWKSNoMatchingKey) return 'unknown_key';
  return 'malformed';
}
