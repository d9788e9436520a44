import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { ModelRoute } from '../shared/routes.ts';
import type { Call } from './admit/call.ts';
import type { ReadBody } from './admit/workload.ts';
import { AttemptRecords, endedOnRecord, toldFacts } from './attempt-records.ts';
import type { Answered } from './deliver.ts';
import { type Attempted, attempt } from './forward/attempt.ts';
import { Considered } from './forward/considered.ts';
import { retryAfterSeconds } from './forward/retry-after.ts';
import type { Gateway } from './gateway.ts';
import type { Candidate, Resolution } from './policy/resolve.ts';
import type { Standpoint } from './policy/standing.ts';
import { refuse } from './refuse.ts';
import { sendRefusal } from './reply.ts';

/** Seconds after which an endpoint that failed without a word may be tried again. */
const SOON_S = 1;

/** What is told to a caller whose call the process has no time for any more. */
export const STOPPING: Refusal = { code: 'gateway_busy', limit: 'drain_ms' };

const NOT_TRIED = 'not tried: the limit attempts_total_ms was reached before';

/** A call that was let in. */
export interface Entered {
  readonly gateway: Gateway;
  readonly call: Call;
  readonly route: ModelRoute;
  readonly standpoint: Standpoint;
}

/** What the attempts of one call have in common, and what has become of them so far. */
interface Course {
  readonly body: ReadBody;
  /** When all attempts must have come to an end, in ms since the epoch. */
  readonly deadline: number;
  readonly considered: Considered;
  /** Seconds after which each endpoint that failed may be tried again. */
  readonly waits: number[];
}

/**
 * Tries the candidates in turn, up to the first content of an answer; after that there is no other. Undefined
 * where the call has been refused, or has failed, and its caller has been told so.
 */
export async function tryCandidates(
  entered: Entered,
  body: ReadBody,
  resolution: Resolution,
): Promise<Answered | undefined> {
  const { gateway, call, standpoint } = entered;
  const deadline = call.startedAt + gateway.config.limits.attempts_total_ms;
  const considered = new Considered(resolution, standpoint.policy.document);
  const course = { body, deadline, considered, waits: [] };
  for (const [index, candidate] of resolution.candidates.entries()) {
    const records = new AttemptRecords(gateway, call, candidate, index + 1, considered.list);
    // Durable before a byte leaves: a crash after it shows as `abandoned`, never as a call nobody knows of.
    if (!(await records.pending())) return await unrecorded(entered, index);
    call.headers[HEADER.attempts] = String(records.number);
    const left = resolution.candidates.slice(index + 1);
    const went = await endedOnRecord(call, records, () => tryOne(entered, course, records, left));
    if (went !== 'next') return went;
  }
  return undefined;
}

/** One attempt, ended on record unless it was answered; `next` where another is to be made. */
async function tryOne(
  entered: Entered,
  course: Course,
  records: AttemptRecords,
  left: readonly Candidate[],
): Promise<Answered | undefined | 'next'> {
  const { gateway, call } = entered;
  const { candidate } = records;
  const request = {
    route: entered.route.path,
    headers: call.incoming.headers,
    body: course.body.withModel(candidate.model),
    stream: course.body.stream,
    gone: call.stopped,
    deadline: course.deadline,
  };
  const tried = await attempt(candidate, request, gateway.forwarder);
  switch (tried.kind) {
    case 'answered':
      return { records, answer: tried.answer };
    case 'gone': {
      const actor = call.stoppedBy ?? 'client';
      await records.append('interrupted', { actor, ...(actor === 'gateway' && toldFacts(STOPPING)) });
      return failed(call, STOPPING);
    }
    case 'failed': {
      gateway.logger.warn({ endpoint: candidate.endpoint.id, why: tried.why }, 'an attempt failed');
      const refusal = refusalAfter(entered, course, records, tried, left);
      await records.append('failed', {
        ...(tried.status !== undefined && { upstream_status: tried.status }),
        ...(call.stoppedBy !== undefined && { actor: call.stoppedBy }),
        ...(refusal && toldFacts(refusal)),
      });
      // Asked again: the caller may have hung up while the record was written.
      return refusal || call.stopped.aborted ? failed(call, refusal ?? STOPPING) : 'next';
    }
  }
}

/** Notes a failure; what the caller is told where it was the last, undefined where another may follow. */
function refusalAfter(
  { gateway, call, standpoint: { policy } }: Entered,
  { considered, waits, deadline }: Course,
  { candidate }: AttemptRecords,
  tried: Extract<Attempted, { readonly kind: 'failed' }>,
  left: readonly Candidate[],
): Refusal | undefined {
  const now = gateway.clock.now();
  considered.reject(candidate.endpoint.id, tried.why);
  waits.push(retryAfterSeconds(tried.headers ?? {}, now) ?? SOON_S);
  if (call.stoppedBy === 'gateway') return STOPPING;
  if (now < deadline && left.length > 0) return undefined;
  for (const { endpoint } of left) considered.reject(endpoint.id, NOT_TRIED);
  const retryAfter = Math.min(...waits);
  return { code: 'no_compliant_endpoint', policy: policy.label, candidates: considered.list, retryAfter };
}

/** Without its `pending`, an attempt is not made; the call is refused, unless an earlier one has left already. */
async function unrecorded(entered: Entered, attemptsMade: number): Promise<undefined> {
  const refusal: Refusal = { code: 'ledger_unavailable' };
  return attemptsMade === 0 ? await refused(entered, refusal) : failed(entered.call, refusal);
}

export async function refused({ gateway, call }: Entered, refusal: Refusal): Promise<undefined> {
  await refuse(gateway, call, refusal);
}

function failed(call: Call, refusal: Refusal): undefined {
  sendRefusal(call, refusal, 'failed');
}
