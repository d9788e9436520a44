import { HEADER } from '../shared/headers.ts';
import { contradictionOf } from './admit/pinned.ts';
import type { ReadBody } from './admit/workload.ts';
import { telling } from './attempt-ends.ts';
import { AttemptRecords, endedOnRecord } from './attempt-records.ts';
import { type Course, type Entered, exhausted, hasTime, NOT_TRIED, type One, pass } from './course.ts';
import type { Answered } from './deliver.ts';
import { Considered } from './forward/considered.ts';
import { nothingLeft, refused, unrecorded } from './give-up.ts';
import { Departure } from './health/departure.ts';
import { unfitToCount } from './policy/evidence.ts';
import type { Resolution } from './policy/resolve.ts';
import { tryOne } from './try-one.ts';

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
  const { clock, config, health } = gateway;
  const contradiction = contradictionOf(body, resolution.candidates);
  if (contradiction !== undefined) return await refused(entered, contradiction);
  const deadline = clock.monotonic() + config.limits.attempts_total_ms;
  const considered = new Considered(resolution, standpoint.policy.document);
  const course: Course = { body, deadline, considered, waits: [] };
  let made = 0;
  for (const [index, candidate] of resolution.candidates.entries()) {
    const isCount = route.path === '/v1/messages/count_tokens';
    const unfit = isCount ? unfitToCount(candidate.endpoint, standpoint) : undefined;
    if (unfit !== undefined) {
      considered.reject(candidate.endpoint.id, unfit);
      continue;
    }
    if (made > 0 && !hasTime(gateway, course)) {
      considered.reject(candidate.endpoint.id, NOT_TRIED);
      continue;
    }
    const leave = health.circuits.begin(candidate.endpoint.id, standpoint.tenant);
    if (!leave.ok) {
      pass(course, candidate, leave.error, clock.now());
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
    call.headers[HEADER.attempts] = String(records.number);
    const left = resolution.candidates.slice(index + 1);
    const departure = new Departure({ ...health, clock, ticket: leave.value, tenant: standpoint.tenant });
    const one: One = { records, departure, tell, isProbe: leave.value.probe, left };
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
