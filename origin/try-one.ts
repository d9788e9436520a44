import { bodyFor } from './admit/pinned.ts';
import { acceptedEnd, answeredEnd, failedEnd } from './attempt-ends.ts';
import { type AttemptRecords, toldFacts } from './attempt-records.ts';
import type { Facts } from './audit/records.ts';
import { isEstimated } from './count-estimate.ts';
import { type Course, type Entered, type One, refusalAfter, STOPPING, withdraw } from './course.ts';
import type { Answered } from './deliver.ts';
import type { Failed } from './forward/answer.ts';
import { type AcceptedHead, attempt } from './forward/attempt.ts';
import { failed, nothingLeft } from './give-up.ts';
import type { AttemptEnd } from './health/outcome.ts';
import { evidenceIn, type Seen, seenIn, withhold } from './violation.ts';

/** One attempt, ended on record unless it was answered; `next` where another is to be made. */
export async function tryOne(
  entered: Entered,
  course: Course,
  one: One,
): Promise<Answered | undefined | 'next'> {
  const { gateway, call, standpoint } = entered;
  const { records, departure, tell, isProbe } = one;
  const { candidate } = records;
  // The slot of a half-open circuit is given back as early as can be, not with the end of a long answer.
  const alive = (end: AttemptEnd, seen: Seen): void => {
    if (isProbe && evidenceIn(records, seen, standpoint).finding !== 'misplaced') tell(end);
  };
  const request = {
    route: entered.route.path,
    headers: call.incoming.headers,
    body: bodyFor(course.body, candidate, entered.route.path),
    stream: course.body.stream,
    gone: call.stopped,
    deadline: course.deadline,
    departure,
    accepted: (head: AcceptedHead) => alive(acceptedEnd(head), head),
  };
  const tried = await call.waitFor(gateway.clock, attempt(candidate, request, gateway.forwarder));
  switch (tried.kind) {
    case 'answered': {
      const answered = { records, answer: tried.answer, tell };
      alive(answeredEnd(standpoint, records, tried.answer), seenIn(tried.answer));
      return answered;
    }
    case 'gone': {
      tell({ kind: 'gone' });
      const actor = call.stoppedBy ?? 'client';
      if (await wasMisplaced(entered, records, tried, { actor })) return undefined;
      await records.append('interrupted', { actor, ...(actor === 'gateway' && toldFacts(STOPPING)) });
      return failed(call, STOPPING);
    }
    case 'withdrawn':
      await withdraw(entered, course, one, tried.health);
      return call.stopped.aborted ? failed(call, STOPPING) : 'next';
    case 'failed':
      gateway.logger.warn({ endpoint: candidate.endpoint.id, why: tried.why }, 'an attempt failed');
      tell(failedEnd(tried));
      return await afterFailure(entered, course, one, tried);
  }
}

/**
 * Whether what had come of an attempt says that it ran in a wrong place, which has had the prompt whatever became
 * of the answer. The attempt is then ended on record, and the caller told.
 */
async function wasMisplaced(
  { gateway, call, standpoint }: Entered,
  records: AttemptRecords,
  seen: Seen,
  observed: Partial<Facts>,
): Promise<boolean> {
  if (seen.headers === undefined) return false;
  const evidence = evidenceIn(records, seen, standpoint);
  if (evidence.finding !== 'misplaced') return false;
  await withhold(gateway, call, records, evidence, observed);
  return true;
}

/** Ends a failed attempt on record; `next` where another is to be made. */
async function afterFailure(
  entered: Entered,
  course: Course,
  { records, left }: One,
  tried: Failed,
): Promise<undefined | 'next'> {
  const { call, route } = entered;
  const observed = { ...(tried.status !== undefined && { upstream_status: tried.status }) };
  if (await wasMisplaced(entered, records, tried, observed)) return undefined;
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
