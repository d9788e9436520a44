import type { IncomingHttpHeaders } from 'node:http';
import { type Duplex, pipeline, type Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { ModelRoute } from '../../shared/routes.ts';
import type { Clock } from '../clock.ts';
import { providerOf } from '../endpoints/provider.ts';
import type { Limits } from '../limits.ts';
import type { Candidate } from '../policy/resolve.ts';
import type { AnswerBody, Piece } from './answer-body.ts';
import { ChunkSource } from './chunks.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { EventBody } from './event-body.ts';
import { headersUp } from './headers.ts';
import { PlainBody } from './plain-body.ts';
import type { Pools } from './pools.ts';
import { meaningOfStatus } from './status.ts';

export interface AttemptRequest {
  readonly route: ModelRoute['path'];
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Whether the caller asked for an event stream. */
  readonly stream: boolean;
  /** Aborted when the caller is gone. */
  readonly gone: AbortSignal;
  /** When the attempts of this call must have come to an end, in ms since the epoch. */
  readonly deadline: number;
}

/** An answer that an endpoint gave: accepted, or rejected by its verdict on the caller's request. */
export interface Answer {
  readonly verdict: 'accepted' | 'rejected';
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** Whether the body was decoded on its way, so that the endpoint's `content-length` no longer holds. */
  readonly decoded: boolean;
  /** The dialect of an event stream, undefined for any other body. */
  readonly dialect: Dialect | undefined;
  /** Everything up to and with the first content. */
  readonly opening: Piece;
  readonly body: AnswerBody;
}

export type Attempted =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | {
      readonly kind: 'failed';
      /** In words for the person on call; never anything that the endpoint said. */
      readonly why: string;
      readonly status?: number;
      readonly headers?: IncomingHttpHeaders;
    }
  | { readonly kind: 'gone' };

export interface Forwarder {
  readonly pools: Pools;
  readonly clock: Clock;
  readonly limits: Limits;
}

/** One attempt at one endpoint, up to the first content of its answer. Never rejects. */
export async function attempt(
  candidate: Candidate,
  request: AttemptRequest,
  at: Forwarder,
): Promise<Attempted> {
  const started = at.clock.now();
  const limit = request.stream ? at.limits.time_to_first_token_ms : at.limits.time_to_first_byte_ms;
  const by = Math.min(started + limit, request.deadline);
  const aborter = new AbortController();
  const abort = () => aborter.abort();
  if (request.gone.aborted) return { kind: 'gone' };
  request.gone.addEventListener('abort', abort, { once: true });
  let late = false;
  const cancel = at.clock.setTimeout(() => {
    late = true;
    abort();
  }, by - started);
  try {
    const response = await dispatch(candidate, request, at, aborter.signal);
    cancel();
    return await judge(response, request, at, by, abort);
  } catch (cause) {
    if (request.gone.aborted) return { kind: 'gone' };
    return { kind: 'failed', why: late ? `no answer within ${limit} ms` : faultOf(cause) };
  } finally {
    cancel();
  }
}

interface Response {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable;
}

/** Sends the request. undici never follows a redirect, and only resends what provably never left. */
function dispatch(
  candidate: Candidate,
  request: AttemptRequest,
  at: Forwarder,
  signal: AbortSignal,
): Promise<Response> {
  const { endpoint } = candidate;
  const provider = providerOf(endpoint.provider);
  const url = provider.url(endpoint, request.route);
  return at.pools.of(endpoint).request({
    method: 'POST',
    path: `${url.pathname}${url.search}`,
    headers: headersUp(request.headers, provider.authorize(endpoint)),
    body: request.body,
    signal,
  });
}

async function judge(
  response: Response,
  request: AttemptRequest,
  at: Forwarder,
  by: number,
  abort: () => void,
): Promise<Attempted> {
  const { statusCode: status, headers } = response;
  const meaning = meaningOfStatus(status);
  const failed = (why: string): Attempted => {
    abort();
    response.body.on('error', () => undefined);
    return request.gone.aborted ? { kind: 'gone' } : { kind: 'failed', why, status, headers };
  };
  if (meaning.kind === 'failed') return failed(meaning.why);
  const decoded = decode(response);
  if (decoded === undefined) return failed('its content-encoding is unknown');
  const chunks = new ChunkSource(decoded.body, at.clock, abort);
  const type = String(headers['content-type'] ?? '');
  const dialect =
    meaning.kind === 'accepted' && /^text\/event-stream\b/i.test(type) ? dialectOf(request.route) : undefined;
  const idleMs = at.limits.stream_idle_ms;
  const answer = dialect
    ? new EventBody(
        chunks,
        dialect,
        { firstTokenBy: by, idleMs, heldBackBytes: at.limits.held_back_bytes },
        at.clock,
      )
    : new PlainBody(chunks, /\bjson\b/i.test(type), {
        firstByteMs: Math.max(by - at.clock.now(), 0),
        idleMs,
      });
  const opening = await answer.open();
  if ('why' in opening) return failed(opening.why);
  return {
    kind: 'answered',
    answer: {
      verdict: meaning.kind,
      status,
      headers,
      decoded: decoded.decoded,
      dialect,
      opening,
      body: answer,
    },
  };
}

/** Undoes a `content-encoding`, as what the endpoint says has to be read on its way to the caller. */
function decode({
  headers,
  body,
}: Response): { readonly body: Readable; readonly decoded: boolean } | undefined {
  const encoding = String(headers['content-encoding'] ?? '')
    .trim()
    .toLowerCase();
  if (encoding === '' || encoding === 'identity') return { body, decoded: false };
  const decoder = DECODERS.get(encoding);
  return decoder && { body: pipeline(body, decoder(), () => undefined), decoded: true };
}

const DECODERS: ReadonlyMap<string, () => Duplex> = new Map([
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
  ['deflate', createInflate],
  ['br', createBrotliDecompress],
]);

/** A connection's fault in words, from its code alone: messages can hold hosts, and hosts can hold keys. */
function faultOf(cause: unknown): string {
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
      return /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? `cannot be reached (${code})` : 'cannot be reached';
  }
}
