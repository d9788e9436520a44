import type { AttemptRecords } from './attempt-records.ts';
import type { Answer, Failed } from './forward/answer.ts';
import type { AcceptedHead } from './forward/attempt.ts';
import type { Gateway } from './gateway.ts';
import type { Ticket } from './health/circuits.ts';
import { type AttemptEnd, outcomeOf } from './health/outcome.ts';
import type { Standpoint } from './policy/standing.ts';
import type { Relayed } from './relay.ts';

/** What the answer up to its first content was for its endpoint. */
export const answeredEnd = (
  { policy }: Standpoint,
  { workload, requestBytes }: AttemptRecords,
  { upstreamStatus, status, headers, verdict, dialect, ttftMs }: Answer,
): AttemptEnd => ({
  kind: 'answered',
  status: verdict === 'accepted' ? upstreamStatus : status,
  headers,
  ...(dialect && { ttftMs }),
  maxTtftMs: policy.document.workloads[workload]?.health.max_ttft_ms ?? Infinity,
  requestBytes,
});

/** What the head of an accepted answer that is no stream was for its endpoint: it has no first token. */
export const acceptedEnd = ({ status, headers }: AcceptedHead): AttemptEnd => ({
  kind: 'answered',
  status,
  headers,
  maxTtftMs: Infinity,
  requestBytes: 0,
});

/** What a failed attempt was for its endpoint: a status says it, and an answer without content is none. */
export function failedEnd({ status, headers = {}, why, ours }: Failed): AttemptEnd {
  if (ours) return { kind: 'gone' };
  const refusing = status !== undefined && (status < 200 || status >= 300);
  return refusing ? acceptedEnd({ status, headers }) : { kind: 'broken', why };
}

/** What an answer that did not go over whole was for its endpoint. */
export const brokenEnd = (relayed: Relayed): AttemptEnd =>
  relayed.kind === 'interrupted' && relayed.by === 'endpoint' && !relayed.blamesRequest
    ? { kind: 'broken', why: 'its answer broke off' }
    : { kind: 'gone' };

/** Stands outside of the call, whose body what is made in there would keep alive as long as the answer runs. */
export const telling =
  ({ health, clock }: Gateway, ticket: Ticket) =>
  (end: AttemptEnd): void =>
    health.circuits.report(ticket, outcomeOf(end, clock.now()));
