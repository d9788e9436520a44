import type { IncomingHttpHeaders } from 'node:http';
import { Readable } from 'node:stream';
import type { Dispatcher } from 'undici';
import type { ModelRoute } from '../../shared/routes.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { NoCredential } from '../endpoints/no-credential.ts';
import { type AccessTokens, type Credential, providerOf } from '../endpoints/provider.ts';
import type { Departure } from '../health/departure.ts';
import type { Candidate } from '../policy/resolve.ts';
import { headersUp } from './headers.ts';
import type { Pools } from './pools.ts';

/** What is sent up, before it has its endpoint's address and credential. */
export interface UpRequest {
  readonly route: ModelRoute['path'];
  /** The caller's; few of them go up. */
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly departure: Departure;
}

export interface UpstreamResponse {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/**
 * Sends the request. undici follows no redirect, and sends again only what waited for a connection and of
 * which not a byte had left; a kept-alive connection that dies under a call fails it. What waits for a
 * credential or a connection is held back at its departure where its endpoint was taken out meanwhile.
 */
export async function dispatch(
  { endpoint }: Candidate,
  request: UpRequest,
  pools: Pools,
  signal: AbortSignal,
): Promise<UpstreamResponse> {
  const url = providerOf(endpoint.provider).url(endpoint, request.route);
  // Nothing is fetched or opened for an endpoint that is out already.
  if (!request.departure.allowed()) throw new Error('withdrawn');
  const credential = await credentialFor(endpoint, pools.tokens, signal);
  return pools
    .of(endpoint)
    .compose(watching(request.departure))
    .request({
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      headers: {
        ...headersUp(request.headers, credential),
        'content-length': String(request.body.length),
      },
      body: upBody(request.body),
      signal,
    });
}

/** Stands where a connection has taken the request and not a byte of it is written. */
const watching =
  (departure: Departure): Dispatcher.DispatcherComposeInterceptor =>
  (dispatch) =>
  (options, handler) =>
    dispatch(options, {
      onRequestStart: (controller, context) => {
        if (!departure.allowed()) {
          controller.abort(new Error('withdrawn'));
          return;
        }
        departure.left();
        handler.onRequestStart?.(controller, context);
      },
      onResponseStart: (...told) => handler.onResponseStart?.(...told),
      onResponseData: (...told) => handler.onResponseData?.(...told),
      onResponseEnd: (...told) => handler.onResponseEnd?.(...told),
      onResponseError: (...told) => handler.onResponseError?.(...told),
    });

/** The endpoint's credential; nobody waits for one whose call is over. */
async function credentialFor(
  endpoint: Endpoint,
  tokens: AccessTokens,
  signal: AbortSignal,
): Promise<Credential> {
  const given = providerOf(endpoint.provider).authorize(endpoint, tokens);
  if (!(given instanceof Promise)) return given;
  const over = Promise.withResolvers<never>();
  const stop = (): void => over.reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  return await Promise.race([given, over.promise]).finally(() => signal.removeEventListener('abort', stop));
}

/** Bytes of a body from which on it is worth letting go of it early. */
const LARGE_BYTES = 64 * 1024;

const upBody = (bytes: Buffer): Buffer | Readable =>
  bytes.length < LARGE_BYTES ? bytes : new LettingGo(bytes);

/**
 * The client keeps the body it is given until the answer has ended; this one lets go of its bytes as soon as
 * they are on their way, so that a long answer does not hold a large prompt in memory.
 */
class LettingGo extends Readable {
  #bytes: Buffer | null;

  constructor(bytes: Buffer) {
    super();
    this.#bytes = bytes;
  }

  override _read(): void {
    const bytes = this.#bytes;
    this.#bytes = null;
    this.push(bytes);
  }
}

/** A connection's fault in words, from its code alone: messages can hold hosts, and hosts can hold keys. */
export function faultOf(cause: unknown): string {
  if (cause instanceof NoCredential) return cause.message;
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  switch (code) {
    case 'ECONNREFUSED':
      return 'cannot connect: connection refused';
    case 'UND_ERR_CONNECT_TIMEOUT':
      return 'cannot connect within the limit connect_ms';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'cannot connect: its host name does not resolve';
    case 'ECONNRESET':
    case 'EPIPE':
    case 'UND_ERR_SOCKET':
      return 'the connection broke before the answer';
    default:
      if (code.startsWith('HPE_')) return 'its answer is not well-formed HTTP';
      return /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? `cannot be reached (${code})` : 'cannot be reached';
  }
}
