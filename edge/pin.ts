import { HEADER } from '../shared/headers.ts';
import { err, ok, type Result } from '../shared/result.ts';
import type { Call } from './call.ts';
import type { Denial } from './denial.ts';
import { requestHeaders, responseHeaders } from './end-to-end.ts';
import type { Environment } from './environment.ts';
import type { Tenant } from './lookup.ts';
import { signAssertion } from './sign.ts';

/**
 * Milliseconds until an origin's headers must have come. Plain calls to slow models take minutes and the SDKs
 * wait for ten; this ends only what neither side is waiting for any more.
 */
export const ORIGIN_HEADERS_LIMIT_MS = 900_000;

/**
 * Milliseconds in which the runtime ends the work for a caller who has hung up. Its fetch says of a body that broke
 * off under the caller's hands just what it says of an origin that broke, and may say so a little before that end.
 */
const HUNG_UP_MS = 200;

/**
 * Streams the request to the one origin of the tenant's zone and its answer back, as bytes that nobody reads
 * here. There is no second origin to try, and no way for a path, a header or an answer to name one.
 */
export async function pin(
  request: Request,
  tenant: Tenant,
  call: Call,
  environment: Environment,
): Promise<Result<Response, Denial>> {
  const origin = environment.origins[tenant.zone];
  const answer = origin === undefined ? undefined : await ask(request, origin, tenant, call, environment);
  if (answer !== undefined && !isForeign(answer.status)) return ok(passedOn(answer, call));
  await answer?.body?.cancel().catch(() => undefined);
  return err({
    refusal: { code: 'origin_unavailable' },
    tenant: tenant.id,
    claimed: tenant.zone,
    zone: tenant.zone,
  });
}

/** Options of workerd beyond the standard's: an encoded body is handed on as it is, with its length. */
interface PassThrough extends RequestInit {
  readonly encodeResponseBody: 'manual';
}

/** The origin's answer, or undefined where none came. */
async function ask(
  request: Request,
  origin: string,
  tenant: Tenant,
  call: Call,
  environment: Environment,
): Promise<Response | undefined> {
  const target = targetOf(origin, call.url);
  const assertion = await signAssertion(tenant, target, call, environment.signingKey);
  const bodyless = request.method === 'GET' || request.method === 'HEAD';
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), ORIGIN_HEADERS_LIMIT_MS);
  const init: PassThrough = {
    method: request.method,
    headers: decidedHeaders(request.headers, tenant, call, assertion),
    body: bodyless ? null : request.body,
    redirect: 'manual',
    // A cached answer would be served from wherever the cache is, and to whoever asks for the same path.
    cache: 'no-store',
    signal: late.signal,
    encodeResponseBody: 'manual',
  };
  try {
    return await fetch(target, init);
  } catch {
    if (init.body !== null) await new Promise((resolve) => setTimeout(resolve, HUNG_UP_MS));
    return undefined;
  } finally {
    clearTimeout(timer);
  }
}

/** What the caller sent, with one value where the edge has decided one. */
function decidedHeaders(sent: Headers, tenant: Tenant, call: Call, assertion: string): Headers {
  const headers = requestHeaders(sent);
  headers.set(HEADER.jurisdiction, tenant.zone);
  headers.set(HEADER.tenant, tenant.id);
  headers.set(HEADER.requestId, call.id);
  headers.set(HEADER.assertion, assertion);
  return headers;
}

/** Setting the parts keeps the host: resolving `//evil.example/x` against the origin would not. */
function targetOf(origin: string, asked: URL): URL {
  const target = new URL(origin);
  target.pathname = asked.pathname;
  target.search = asked.search;
  return target;
}

/**
 * An answer that the origin itself does not give: a redirect, which a client would follow out of the zone, or
 * one of the statuses by which Cloudflare says that it could not reach the origin.
 */
const isForeign = (status: number): boolean =>
  (status >= 300 && status < 400) || (status >= 520 && status <= 527) || status === 530;

function passedOn(answer: Response, call: Call): Response {
  const headers = responseHeaders(answer.headers);
  headers.set(HEADER.requestId, call.id);
  const init: ResponseInit & { encodeBody: 'manual' } = {
    status: answer.status,
    headers,
    encodeBody: 'manual',
  };
  return new Response(answer.body, init);
}
