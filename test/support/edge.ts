import { connect } from 'node:net';
import { type CryptoKey, exportJWK, generateKeyPair, jwtVerify } from 'jose';
import { Agent, type Dispatcher, request } from 'undici';
import { type EdgeOptions, type RunningEdge, startEdge } from '../../origin/dev/edge.ts';
import {
  ASSERTION_ISSUER,
  ASSERTION_TYPE,
  type AssertionClaims,
  assertionAudience,
  assertionSchema,
  REFUSAL_TYPE,
  type RefusalReport,
  refusalReportSchema,
} from '../../shared/assertion.ts';
import type { Zone } from '../../shared/zones.ts';
import { type StubOrigin, startStubOrigin } from './stub-origin.ts';

const KEY_ID = 'edge-test';
const SECRET = 'S'.repeat(43);

/** A gateway key of right form for a tenant. */
export const keyOf = (tenant: string): string => `rgk_${tenant}_${SECRET}`;

/** Headers with which a call for the tenant `acme` in `eu` is served. */
export const ACME: Readonly<Record<string, string>> = {
  'x-jurisdiction': 'eu',
  authorization: `Bearer ${keyOf('acme')}`,
};

type CallOptions = NonNullable<Parameters<typeof request>[1]>;

export interface EdgeWorld {
  readonly edge: RunningEdge;
  /** Origin of `acme`, and of most tenants here. */
  readonly eu: StubOrigin;
  /** Also the home of unattributed refusals. */
  readonly us: StubOrigin;
  /** One call through the edge; nothing is followed or tried again. */
  readonly call: (path: string, options?: CallOptions) => Promise<Dispatcher.ResponseData<unknown>>;
  /** Checks the signature as an origin would, and gives the claims. */
  readonly verifyAssertion: (jws: unknown, zone: Zone) => Promise<AssertionClaims>;
  readonly verifyReport: (jws: string, zone: Zone) => Promise<RefusalReport>;
  readonly close: () => Promise<void>;
}

/** The edge in workerd between a client and two stub origins, with tenant `acme` in `eu` and `usco` in `us`. */
export async function startEdgeWorld(options: Partial<EdgeOptions> = {}): Promise<EdgeWorld> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
  const [eu, us] = await Promise.all([startStubOrigin(), startStubOrigin()]);
  const edge = await startEdge({
    port: 0,
    origins: { eu: eu.url, us: us.url },
    unattributedHome: 'us',
    signingKey: { ...(await exportJWK(privateKey)), kid: KEY_ID },
    ...options,
  });
  if (options.tenantsModule === undefined) {
    await edge.putTenant('acme', { jurisdiction: 'eu', state: 'active', version: 7 });
    await edge.putTenant('usco', { jurisdiction: 'us', state: 'active', version: 1 });
  }
  const dispatcher = new Agent();
  return {
    edge,
    eu,
    us,
    call: (path, options) => request(edge.url + path, { ...options, dispatcher }),
    verifyAssertion: async (jws, zone) =>
      assertionSchema.parse(await verified(String(jws), publicKey, ASSERTION_TYPE, zone)),
    verifyReport: async (jws, zone) =>
      refusalReportSchema.parse(await verified(jws, publicKey, REFUSAL_TYPE, zone)),
    close: async () => {
      await dispatcher.destroy();
      await Promise.all([edge.close(), eu.close(), us.close()]);
    },
  };
}

async function verified(jws: string, key: CryptoKey, typ: string, zone: Zone) {
  const { payload, protectedHeader } = await jwtVerify(jws, key, {
    algorithms: ['EdDSA'],
    issuer: ASSERTION_ISSUER,
    audience: assertionAudience(zone),
    typ,
  });
  if (protectedHeader.kid !== KEY_ID) throw new Error(`kid is ${protectedHeader.kid}`);
  return payload;
}

/** Header lines of a raw request. */
export const lines = (headers: Readonly<Record<string, string>>): string =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');

/** Sends bytes as they are and gives the whole answer to them, or what came of it before the connection closed. */
export async function rawExchange(url: string, request: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(Buffer.from(request, 'utf8'));
  let answer = '';
  for await (const chunk of socket.setEncoding('latin1')) {
    answer = (answer + chunk).replace(/^HTTP\/1.1 100 .*?\r\n\r\n/s, '');
    if (isWhole(answer)) break;
  }
  return answer;
}

function isWhole(answer: string): boolean {
  const end = answer.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /\r\ncontent-length: (\d+)/i.exec(answer.slice(0, end))?.[1];
  return length === undefined ? answer.endsWith('\r\n0\r\n\r\n') : answer.length >= end + 4 + Number(length);
}
