import type { IncomingHttpHeaders } from 'node:http';
import type { Endpoint } from '../endpoints/endpoint.ts';
import { regionPathsOf } from '../endpoints/region-evidence.ts';
import type { AnswerBody, Piece } from './answer-body.ts';
import type { AttemptRequest, Forwarder } from './attempt.ts';
import { BodyRegions } from './body-regions.ts';
import { ChunkSource } from './chunks.ts';
import { decode } from './decode.ts';
import { type Dialect, dialectOf } from './dialect.ts';
import type { Verdict } from './dialects/verdict.ts';
import type { UpstreamResponse } from './dispatch.ts';
import { EventBody } from './event-body.ts';
import type { Leash } from './leash.ts';
import { PlainBody } from './plain-body.ts';
import { answersInJson, PlainRegions, regionsOfFailure } from './plain-regions.ts';
import { meaningOfStatus } from './status.ts';

/** An answer that an endpoint gave: accepted, or rejected by its verdict on the caller's request. */
export interface Answer {
  readonly verdict: 'accepted' | 'rejected';
  /** As the caller gets it. */
  readonly status: number;
  readonly upstreamStatus: number;
  readonly headers: IncomingHttpHeaders;
  /** Whether other bytes go down than came, so that the endpoint's `content-length` no longer holds. */
  readonly decoded: boolean;
  /** The dialect of an event stream, undefined for any other body. */
  readonly dialect: Dialect | undefined;
  /** Everything up to and with the first content. */
  readonly opening: Piece;
  /** From the departure of the request to the first content, in ms. */
  readonly ttftMs: number;
  readonly body: AnswerBody;
}

export interface Failed {
  readonly kind: 'failed';
  /** In words for the person on call; never anything that the endpoint said. */
  readonly why: string;
  /** It failed for a reason of our own, which says nothing of the endpoint. */
  readonly ours?: true;
  readonly status?: number;
  readonly headers?: IncomingHttpHeaders;
  /** What the body had said of where it was made. */
  readonly regions?: readonly string[];
}

export interface Answered {
  readonly kind: 'answered';
  readonly answer: Answer;
}

/** Reads an endpoint's response up to its first content. Never rejects. */
export async function readAnswer(
  { statusCode: status, headers, body }: UpstreamResponse,
  endpoint: Endpoint,
  request: AttemptRequest,
  { clock, limits }: Forwarder,
  leash: Leash,
): Promise<Answered | Failed> {
  const meaning = meaningOfStatus(status);
  const paths = regionPathsOf(endpoint);
  const failed = (why: string): Failed => {
    leash.abort();
    return { kind: 'failed', why, status, headers };
  };
  const decoded = decode(headers, body);
  if (decoded === undefined) {
    body.on('error', () => undefined);
    return failed(meaning.kind === 'failed' ? meaning.why : 'its content-encoding is unknown');
  }
  const chunks = new ChunkSource(decoded.body, clock, leash.abort);
  if (meaning.kind === 'failed') {
    const regions = await regionsOfFailure(chunks, clock, paths);
    return { kind: 'failed', why: meaning.why, status, headers, regions };
  }
  const type = String(headers['content-type'] ?? '');
  const events = meaning.kind === 'accepted' && /^\s*text\/event-stream\b/i.test(type);
  const dialect = events ? dialectOf(request.route) : undefined;
  if (meaning.kind === 'accepted' && !events) request.accepted({ status, headers });
  const { stream_idle_ms: idleMs, held_back_bytes: heldBackBytes } = limits;
  const regions = paths.length === 0 ? undefined : new BodyRegions(paths);
  const inJson = meaning.kind === 'accepted' && answersInJson(request.route);
  const answer = dialect
    ? new EventBody(chunks, dialect, { idleMs, heldBackBytes, regions }, clock)
    : new PlainBody(chunks, {
        json: /\bjson\b/i.test(type),
        idleMs,
        regions: regions && new PlainRegions(regions, inJson),
      });
  const opening = await answer.open();
  const read = { upstreamStatus: status, ttftMs: request.departure.elapsedMs, body: answer };
  if (!('why' in opening)) {
    const { kind: verdict } = meaning;
    const as = { verdict, status, headers, decoded: decoded.decoded, dialect, opening };
    return { kind: 'answered', answer: { ...as, ...read } };
  }
  if (opening.verdict === undefined) return { ...failed(opening.why), regions: answer.regions };
  return { kind: 'answered', answer: { ...rejection(opening.verdict, headers), ...read } };
}

/** A stream that begins with a verdict on the request is told as what it is: an error, and no stream. */
function rejection({ status, body }: Verdict, headers: IncomingHttpHeaders) {
  return {
    verdict: 'rejected',
    status,
    headers: { ...headers, 'content-type': 'application/json' },
    decoded: true,
    dialect: undefined,
    opening: { bytes: Buffer.from(body), end: { kind: 'completed' } },
  } as const;
}
