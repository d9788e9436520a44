import type { JWTPayload } from 'jose';
import { SignJWT } from 'jose/jwt/sign';
import {
  ASSERTION_ISSUER,
  ASSERTION_LIFETIME_S,
  ASSERTION_TYPE,
  type AssertionClaims,
  assertionAudience,
  REFUSAL_TYPE,
  REFUSALS_PATH,
  type RefusalReport,
} from '../shared/assertion.ts';
import { statusOf } from '../shared/errors.ts';
import { routeName } from '../shared/routes.ts';
import type { Zone } from '../shared/zones.ts';
import type { Call } from './call.ts';
import type { Denial } from './denial.ts';
import type { SigningKey } from './environment.ts';
import type { Tenant } from './lookup.ts';

/** Random bytes of a `jti`: 128 bits, so that no two assertions share one by chance. */
const JTI_BYTES = 16;

/** The assertion by which an origin knows that this edge decided on this very request (compact JWS, EdDSA). */
export function signAssertion(
  tenant: Tenant,
  target: URL,
  call: Call,
  signingKey: SigningKey,
): Promise<string> {
  const claims = {
    ...commonClaims(tenant.zone, call),
    sub: tenant.id,
    htm: call.method,
    htu: target.pathname + target.search,
    tv: tenant.version,
  } satisfies AssertionClaims;
  return sign(claims, ASSERTION_TYPE, signingKey);
}

/** The report of a refusal to the origin of `zone`: closed values, and no text that a caller worded. */
export function signReport(denial: Denial, zone: Zone, call: Call, signingKey: SigningKey): Promise<string> {
  const route = routeName(call.url.pathname);
  const claims = {
    ...commonClaims(zone, call),
    ...(denial.tenant !== undefined && { sub: denial.tenant }),
    htm: 'POST',
    htu: REFUSALS_PATH,
    refusal: {
      code: denial.refusal.code,
      status: statusOf(denial.refusal),
      ...(route !== undefined && { route }),
      ...(denial.claimed !== undefined && { jurisdiction_claimed: denial.claimed }),
    },
  } satisfies RefusalReport;
  return sign(claims, REFUSAL_TYPE, signingKey);
}

function commonClaims(zone: Zone, call: Call) {
  // A fraction of a second lets an origin tell an assertion of before its start from one of after it.
  const iat = Date.now() / 1000;
  return {
    iss: ASSERTION_ISSUER,
    aud: assertionAudience(zone),
    jti: randomId(),
    rid: call.id,
    jur: zone,
    iat,
    exp: iat + ASSERTION_LIFETIME_S,
    ...(call.colo !== undefined && { colo: call.colo }),
  } as const;
}

function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(JTI_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const sign = (claims: JWTPayload, typ: string, { key, kid }: SigningKey): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg: 'EdDSA', kid, typ }).sign(key);
