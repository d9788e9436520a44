import type { IncomingHttpHeaders } from 'node:http';
import type { Clock } from '../clock.ts';
import type { Unusable } from '../health/snapshot.ts';
import type { Limits } from '../limits.ts';
import type { Candidate } from '../policy/resolve.ts';
import { type Answered, type Failed, readAnswer } from './answer.ts';
import { dispatch, faultOf, type UpRequest } from './dispatch.ts';
import { Leash } from './leash.ts';
import type { Pools } from './pools.ts';

export interface AttemptRequest extends UpRequest {
  /** Whether the caller asked for an event stream. */
  readonly stream: boolean;
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal;
  /** When the attempts of this call must have come to an end, on the monotonic clock. */
  readonly deadline: number;
  /** Told of the head of an answer that is no stream, before its body is there. */
  accepted(head: AcceptedHead): void;
}

export interface AcceptedHead {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
}

/** Nobody waits any more; what had come by then can still say where the request has been. */
interface Gone extends Pick<Failed, 'status' | 'headers' | 'regions'> {
  readonly kind: 'gone';
}

/** The endpoint was taken out before the request left, and nothing of it was sent. */
interface Withdrawn {
  readonly kind: 'withdrawn';
  readonly health: Unusable;
}

export type Attempted = Answered | Failed | Gone | Withdrawn;

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
  const { gone, departure } = request;
  if (gone.aborted) return { kind: 'gone' };
  let patience = patienceFor(request, at);
  if (patience.ms === 0) return { kind: 'failed', why: patience.exceeded, ours: true };
  const leash = new Leash({ gone, clock: at.clock, withinMs: patience.ms });
  departure.onceLeft(() => {
    patience = patienceFor(request, at);
    leash.renew(patience.ms);
  });
  const tried = await dispatch(candidate, request, at.pools, leash.signal).then(
    (response) => readAnswer(response, candidate.endpoint, request, at, leash),
    (cause: unknown): Failed => ({ kind: 'failed', why: faultOf(cause) }),
  );
  if (tried.kind === 'answered') {
    leash.slacken();
    return tried;
  }
  leash.drop();
  if (gone.aborted) return { ...tried, kind: 'gone' };
  if (departure.withdrawn !== undefined) return { kind: 'withdrawn', health: departure.withdrawn };
  if (!leash.late) return tried;
  return { ...tried, why: patience.exceeded, ...(patience.ours && { ours: true }) };
}

/**
 * How long is waited from now on, and what is said where it took longer. Only what an endpoint takes of its own
 * limit is held against it: neither the wait for a connection of ours nor what earlier attempts left of the time.
 */
function patienceFor({ stream, deadline, departure }: AttemptRequest, { clock, limits }: Forwarder) {
  const own = stream ? 'time_to_first_token_ms' : 'time_to_first_byte_ms';
  const left = Math.max(deadline - clock.monotonic(), 0);
  const limit = left < limits[own] ? 'attempts_total_ms' : own;
  const what = !departure.hasLeft ? 'not sent' : stream ? 'no content' : 'no answer';
  const when = limit === own ? 'within' : 'before';
  return {
    ms: Math.min(left, limits[own]),
    exceeded: `${what} ${when} the limit ${limit} (${limits[limit]} ms)`,
    ours: !departure.hasLeft || limit !== own,
  };
}
