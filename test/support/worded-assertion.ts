import { randomUUID } from 'node:crypto';
import { importJWK, type JWK, SignJWT } from 'jose';
import {
  ASSERTION_ISSUER,
  ASSERTION_TYPE,
  assertionAudience,
  REFUSAL_TYPE,
  REFUSALS_PATH,
} from '../../shared/assertion.ts';
import type { Zone } from '../../shared/zones.ts';

/** What an assertion says for a test, in place of what the edge would say. A member that is undefined is left out. */
export interface Wording {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: {
    readonly alg?: string;
    readonly kid?: string | undefined;
    readonly typ?: string | undefined;
  };
  /** Signs in place of the edge's key: a private JWK, or the bytes of a secret. */
  readonly key?: JWK | Uint8Array;
}

export interface Asserted {
  readonly zone: Zone;
  readonly tenant: string;
  /** Path and query. */
  readonly target: string;
  readonly method?: string;
}

/** The assertion that the edge would make for a request, or one that differs from it as the test words it. */
export function assertionOf(edgeKey: JWK, asserted: Asserted, wording: Wording = {}): Promise<string> {
  const { zone, tenant, target, method = 'POST' } = asserted;
  const claims = { ...commonClaims(zone), sub: tenant, htm: method, htu: target, tv: 1, ...wording.claims };
  return sign(edgeKey, claims, ASSERTION_TYPE, wording);
}

/** The report of a refusal as the edge would make it, or as the test words it. */
export function reportOf(edgeKey: JWK, zone: Zone, wording: Wording = {}): Promise<string> {
  const refusal = { code: 'tenant_unknown', status: 403 };
  const claims = { ...commonClaims(zone), htm: 'POST', htu: REFUSALS_PATH, refusal, ...wording.claims };
  return sign(edgeKey, claims, REFUSAL_TYPE, wording);
}

function commonClaims(zone: Zone) {
  const iat = Date.now() / 1_000;
  return {
    iss: ASSERTION_ISSUER,
    aud: assertionAudience(zone),
    jti: randomUUID(),
    rid: randomUUID(),
    jur: zone,
    iat,
    exp: iat + 60,
  };
}

async function sign(edgeKey: JWK, claims: object, typ: string, { header, key = edgeKey }: Wording) {
  const alg = header?.alg ?? 'EdDSA';
  const signer = key instanceof Uint8Array ? key : await importJWK(key, alg);
  const head = { ...said({ typ, kid: edgeKey.kid, ...header }), alg };
  return new SignJWT(said(claims)).setProtectedHeader(head).sign(signer);
}

const said = (members: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
