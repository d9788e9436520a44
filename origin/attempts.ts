import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { ModelRoute } from '../shared/routes.ts';
import type { Call } from './admit/call.ts';
import type { ReadBody } from './admit/workload.ts';
import { AttemptRecords, endedOnRecord, toldFacts } from './attempt-records.ts';
import { type Answered, answeredEnd } from './deliver.ts';
import { type Attempted, attempt } from './forward/attempt.ts';
import { Considered } from './forward/considered.ts';
import type { Gateway } from './gateway.ts';
import { coolDownMs } from './health/cool-down.ts';
import { type AttemptEnd, outcomeOf } from './health/outcome.ts';
import type { Unusable } from './health/snapshot.ts';
import type { Candidate, Resolution } from './policy/resolve.ts';
import type { Standpoint } from './policy/standing.ts';
import { refuse } from './refuse.ts';
import { sendRefusal } from './reply.ts';

/** Seconds after which an endpoint that failed without a word may be tried again. */
const SOON_S = 1;

/** Longest wait, in seconds, that a caller is told: a person may act before. */
const LONGEST_WAIT_S = 3_600;

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
  let made = 0;
  for (const [index, candidate] of resolution.candidates.entries()) {
    const leave = gateway.health.circuits.begin(candidate.endpoint.id, standpoint.tenant);
    if (!leave.ok) {
      pass(course, candidate, leave.error, gateway.clock.now());
      continue;
    }
    const tell = (end: AttemptEnd) =>
      gateway.health.circuits.report(leave.value, outcomeOf(end, gateway.clock.now()));
    const records = new AttemptRecords(gateway, call, candidate, made + 1, considered.list);
    // Durable before a byte leaves: a crash after it shows as `abandoned`, never as a call nobody knows of.
    if (!(await records.pending())) {
      tell({ kind: 'gone' });
      return await unrecorded(entered, made);
    }
    made += 1;
    call.headers[HEADER.attempts] = String(records.number);
    const left = resolution.candidates.slice(index + 1);
    const one: One = { records, tell, isProbe: leave.value.probe, left };
    const went = await endedOnRecord(call, records, () => tryOne(entered, course, one)).catch(
      (cause: unknown) => {
        tell({ kind: 'gone' });
        throw cause;
      },
    );
    if (went !== 'next') return went;
  }
  const refusal = exhausted(entered, course);
  return made === 0 ? await refused(entered, refusal) : failed(call, refusal);
}

/** Goes past an endpoint that the circuits let nobody through to, though it looked usable a moment ago. */
function pass({ considered, waits }: Course, { endpoint }: Candidate, health: Unusable, now: number): void {
  considered.reject(endpoint.id, health.why);
  waits.push(Math.max(Math.ceil((health.retryAt - now) / 1_000), SOON_S));
}

/** One attempt: its records, and how its end is told to the circuits. */
interface One {
  readonly records: AttemptRecords;
  tell(end: AttemptEnd): void;
  /** Whether it is the one probe of a half-open circuit. */
  readonly isProbe: boolean;
  readonly left: readonly Candidate[];
}

/** One attempt, ended on record unless it was answered; `next` where another is to be made. */
async function tryOne(
  entered: Entered,
  course: Course,
  { records, tell, isProbe, left }: One,
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
    case 'answered': {
      const answered = { records, answer: tried.answer, tell };
      // The slot of a half-open circuit is given back with the first content, not with the end of a long stream.
      if (isProbe) tell(answeredEnd(entered.gateway, entered.standpoint, answered));
      return answered;
    }
    case 'gone': {
      tell({ kind: 'gone' });
      const actor = call.stoppedBy ?? 'client';
      await records.append('interrupted', { actor, ...(actor === 'gateway' && toldFacts(STOPPING)) });
      return failed(call, STOPPING);
    }
    case 'failed': {
      gateway.logger.warn({ endpoint: candidate.endpoint.id, why: tried.why }, 'an attempt failed');
      tell(failedEnd(tried));
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
  entered: Entered,
  course: Course,
  { candidate }: AttemptRecords,
  tried: Failed,
  left: readonly Candidate[],
): Refusal | undefined {
  const { gateway, call, standpoint } = entered;
  const { considered, waits, deadline } = course;
  const now = gateway.clock.now();
  considered.reject(candidate.endpoint.id, tried.why);
  waits.push(secondsToWait(gateway, standpoint.tenant, candidate, tried, now));
  if (call.stoppedBy === 'gateway') return STOPPING;
  const health = gateway.health.circuits.snapshot(standpoint.tenant);
  const usable = left.filter(({ endpoint }) => health.of(endpoint.id).usable);
  if (now < deadline && usable.length > 0) return undefined;
  for (const { endpoint } of left) {
    const known = health.of(endpoint.id);
    considered.reject(endpoint.id, known.usable ? NOT_TRIED : known.why);
  }
  return exhausted(entered, course);
}

/** When the endpoint says so, or its circuit does. */
function secondsToWait(
  { health }: Gateway,
  tenant: string,
  { endpoint }: Candidate,
  { headers = {} }: Failed,
  now: number,
): number {
  const known = health.circuits.snapshot(tenant).of(endpoint.id);
  const asked = (coolDownMs(headers, now) ?? 0) / 1_000;
  const opens = known.usable ? 0 : Math.min((known.retryAt - now) / 1_000, LONGEST_WAIT_S);
  return Math.max(Math.ceil(asked), Math.ceil(opens), SOON_S);
}

function exhausted({ standpoint: { policy } }: Entered, { considered, waits }: Course): Refusal {
  const retryAfter = Math.min(...waits);
  return { code: 'no_compliant_endpoint', policy: policy.label, candidates: considered.list, retryAfter };
}

type Failed = Extract<Attempted, { readonly kind: 'failed' }>;

/** What a failed attempt was for its endpoint: a status says it, and an answer without content is none. */
function failedEnd({ status, headers = {}, why }: Failed): AttemptEnd {
  const refusing = status !== undefined && (status < 200 || status >= 300);
  return refusing
    ? { kind: 'answered', status, headers, maxTtftMs: Infinity, requestBytes: 0 }
    : { kind: 'broken', why };
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
