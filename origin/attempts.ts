import { HEADER } from '../shared/headers.ts';
import { bodyFor, contradictionOf } from './admit/pinned.ts';
import type { ReadBody } from './admit/workload.ts';
import { AttemptRecords, endedOnRecord, toldFacts } from './attempt-records.ts';
import { isEstimated } from './count-estimate.ts';
import {
  type Course,
  type Entered,
  exhausted,
  type Failed,
  failedEnd,
  type One,
  pass,
  refusalAfter,
  STOPPING,
  telling,
  withdrawn,
} from './course.ts';
import { type Answered, answeredEnd } from './deliver.ts';
import { attempt } from './forward/attempt.ts';
import { Considered } from './forward/considered.ts';
import { failed, nothingLeft, refused, unrecorded } from './give-up.ts';
import { canShowByHead } from './policy/evidence.ts';
import type { Candidate, Resolution } from './policy/resolve.ts';
import { evidenceIn, seenIn, withhold } from './violation.ts';

/** Counts have no room for evidence, so a counter whose bodies alone could show its place is not asked. */
const CANNOT_SHOW = 'its counts cannot show its region as well as the policy asks';

/**
 * Tries the candidates in turn, up to the first content of an answer; after that there is no other. Undefined
 * where the call has been refused, or has failed, and its caller has been told so.
 */
export async function tryCandidates(
  entered: Entered,
  body: ReadBody,
  resolution: Resolution,
): Promise<Answered | undefined> {
  const { gateway, call, route, standpoint } = entered;
  const contradiction = contradictionOf(body, resolution.candidates);
  if (contradiction !== undefined) return await refused(entered, contradiction);
  const deadline = call.startedAt + gateway.config.limits.attempts_total_ms;
  const considered = new Considered(resolution, standpoint.policy.document);
  const course: Course = { body, deadline, considered, waits: [] };
  let made = 0;
  for (const [index, candidate] of resolution.candidates.entries()) {
    if (route.path === '/v1/messages/count_tokens' && !canShowByHead(candidate.endpoint, standpoint)) {
      considered.reject(candidate.endpoint.id, CANNOT_SHOW);
      continue;
    }
    const leave = gateway.health.circuits.begin(candidate.endpoint.id, standpoint.tenant);
    if (!leave.ok) {
      pass(course, candidate, leave.error, gateway.clock.now());
      continue;
    }
    const tell = telling(gateway, leave.value);
    const records = new AttemptRecords(gateway, call, candidate, made + 1, considered.list);
    // Durable before a byte leaves: a crash after it shows as `abandoned`, never as a call nobody knows of.
    if (!(await records.pending())) {
      tell({ kind: 'gone' });
      return await unrecorded(entered, made);
    }
    made += 1;
    // Asked again: while the record was written, the endpoint may have been quarantined.
    if (await withdrawn(entered, course, records, leave.value)) {
      if (call.stopped.aborted) return failed(call, STOPPING);
      continue;
    }
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
  return await nothingLeft(entered, body, exhausted(entered, course), made > 0);
}

/** One attempt, ended on record unless it was answered; `next` where another is to be made. */
async function tryOne(
  entered: Entered,
  course: Course,
  { records, tell, isProbe, left }: One,
): Promise<Answered | undefined | 'next'> {
  const { gateway, call, standpoint } = entered;
  const { candidate } = records;
  const request = {
    route: entered.route.path,
    headers: call.incoming.headers,
    body: bodyFor(course.body, candidate, entered.route.path),
    stream: course.body.stream,
    gone: call.stopped,
    deadline: course.deadline,
  };
  const tried = await call.waitFor(gateway.clock, attempt(candidate, request, gateway.forwarder));
  switch (tried.kind) {
    case 'answered': {
      const answered = { records, answer: tried.answer, tell };
      // The slot of a half-open circuit is given back with the first content, not with the end of a long stream.
      if (isProbe && evidenceIn(records, seenIn(tried.answer), standpoint).finding === 'fine') {
        tell(answeredEnd(gateway, standpoint, answered));
      }
      return answered;
    }
    case 'gone': {
      tell({ kind: 'gone' });
      const actor = call.stoppedBy ?? 'client';
      await records.append('interrupted', { actor, ...(actor === 'gateway' && toldFacts(STOPPING)) });
      return failed(call, STOPPING);
    }
    case 'failed':
      gateway.logger.warn({ endpoint: candidate.endpoint.id, why: tried.why }, 'an attempt failed');
      tell(failedEnd(tried));
      return await afterFailure(entered, course, records, tried, left);
  }
}

/** Ends a failed attempt on record; `next` where another is to be made. */
async function afterFailure(
  entered: Entered,
  course: Course,
  records: AttemptRecords,
  tried: Failed,
  left: readonly Candidate[],
): Promise<undefined | 'next'> {
  const { gateway, call, route, standpoint } = entered;
  const observed = { ...(tried.status !== undefined && { upstream_status: tried.status }) };
  if (tried.headers !== undefined) {
    // A failure from a wrong place has had the prompt there as well.
    const evidence = evidenceIn(records, tried, standpoint);
    if (evidence.finding === 'misplaced') return await withhold(gateway, call, records, evidence, observed);
  }
  const refusal = refusalAfter(entered, course, records, tried, left);
  await records.append('failed', {
    ...observed,
    ...(call.stoppedBy !== undefined && { actor: call.stoppedBy }),
    ...(refusal && !isEstimated(route, refusal) && toldFacts(refusal)),
  });
  // Asked again: the caller may have hung up while the record was written.
  if (call.stopped.aborted) return failed(call, refusal ?? STOPPING);
  return refusal === undefined ? 'next' : await nothingLeft(entered, course.body, refusal, true);
}
