import type { IncomingHttpHeaders } from 'node:http';
import type { ModelRoute } from '../../shared/routes.ts';
import type { Clock } from '../clock.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Limits } from '../limits.ts';
import type { Candidate } from '../policy/resolve.ts';
import type { AnswerBody, Piece } from './answer-body.ts';
import { BodyRegions } from './body-regions.ts';
import { ChunkSource } from './chunks.ts';
import { decode } from './decode.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import { dispatch, faultOf, type UpRequest, type UpstreamResponse } from './dispatch.ts';
import { EventBody } from './event-body.ts';
import { Leash } from './leash.ts';
import { PlainBody } from './plain-body.ts';
import type { Pools } from './pools.ts';
import { meaningOfStatus } from './status.ts';

export interface AttemptRequest extends UpRequest {
  /** Whether the caller asked for an event stream. */
  readonly stream: boolean;
  /** Aborted when nobody waits for the answer any more. */
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

interface Failed {
  readonly kind: 'failed';
  /** In words for the person on call; never anything that the endpoint said. */
  readonly why: string;
  readonly status?: number;
  readonly headers?: IncomingHttpHeaders;
  /** What the body had said of where it was made. */
  readonly regions?: readonly string[];
}

interface Answered {
  readonly kind: 'answered';
  readonly answer: Answer;
}

export type Attempted = Answered | Failed | { readonly kind: 'gone' };

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
  const { gone } = request;
  if (gone.aborted) return { kind: 'gone' };
  const patience = patienceFor(request, at);
  const leash = new Leash({ gone, clock: at.clock, withinMs: patience.ms });
  const tried = await dispatch(candidate, request, at.pools, leash.signal).then(
    (response) => judge(response, candidate.endpoint, request.route, at, leash),
    (cause: unknown): Failed => ({ kind: 'failed', why: faultOf(cause) }),
  );
  if (tried.kind === 'answered') {
    leash.slacken();
    return tried;
  }
  leash.drop();
  if (gone.aborted) return { kind: 'gone' };
  return leash.late ? { ...tried, why: patience.exceeded } : tried;
}

/** How long the first content may take, and what is said where it took longer. */
function patienceFor({ stream, deadline }: AttemptRequest, { clock, limits }: Forwarder) {
  const limit = stream ? 'time_to_first_token_ms' : 'time_to_first_byte_ms';
  const left = Math.max(deadline - clock.now(), 0);
  const what = stream ? 'no content' : 'no answer';
  return left < limits[limit]
    ? { ms: left, exceeded: `${what} before the limit attempts_total_ms (${limits.attempts_total_ms} ms)` }
    : { ms: limits[limit], exceeded: `${what} within the limit ${limit} (${limits[limit]} ms)` };
}

async function judge(
  { statusCode: status, headers, body }: UpstreamResponse,
  { regionBody }: Endpoint,
  route: ModelRoute['path'],
  { clock, limits }: Forwarder,
  leash: Leash,
): Promise<Answered | Failed> {
  const meaning = meaningOfStatus(status);
  if (meaning.kind === 'failed') {
    void new ChunkSource(body, clock, leash.abort).drain();
    return { kind: 'failed', why: meaning.why, status, headers };
  }
  const failed = (why: string): Failed => {
    leash.abort();
    return { kind: 'failed', why, status, headers };
  };
  const decoded = decode(headers, body);
  if (decoded === undefined) {
    body.on('error', () => undefined);
    return failed('its content-encoding is unknown');
  }
  const type = String(headers['content-type'] ?? '');
  const events = meaning.kind === 'accepted' && /^\s*text\/event-stream\b/i.test(type);
  const dialect = events ? dialectOf(route) : undefined;
  const chunks = new ChunkSource(decoded.body, clock, leash.abort);
  const { stream_idle_ms: idleMs, held_back_bytes: heldBackBytes } = limits;
  const regions = regionBody && new BodyRegions(regionBody);
  const answer = dialect
    ? new EventBody(chunks, dialect, { idleMs, heldBackBytes, regions }, clock)
    : new PlainBody(chunks, { json: /\bjson\b/i.test(type), idleMs, regions });
  const opening = await answer.open();
  if ('why' in opening) return { ...failed(opening.why), regions: answer.regions };
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
