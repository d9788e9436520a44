import { errorBody, retryAfterOf, statusOf } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { Call } from './call.ts';
import type { Denial } from './denial.ts';
import type { Environment } from './environment.ts';
import { within } from './limit.ts';
import { report } from './report.ts';

/** Milliseconds that a refused caller waits for the report at most. */
const REPORT_WAIT_MS = 800;

/** Reports the refusal and answers it: with the report on record where that is quick, and in any case soon. */
export async function refuse(
  denial: Denial,
  call: Call,
  environment: Environment,
  waitUntil: (work: Promise<void>) => void,
): Promise<Response> {
  const reported = report(denial, call, environment);
  waitUntil(reported);
  await within(reported, REPORT_WAIT_MS);
  return refusalAnswer(denial, call);
}

/** What the caller of a refused request gets, in the envelope of its API. */
export function refusalAnswer({ refusal, claimed }: Denial, call: Call): Response {
  const retryAfter = retryAfterOf(refusal);
  return new Response(JSON.stringify(errorBody(refusal, call.api, call.id)), {
    status: statusOf(refusal),
    headers: {
      'content-type': 'application/json',
      'cache-control': 'no-store',
      [HEADER.requestId]: call.id,
      [HEADER.outcome]: 'refused',
      [HEADER.decidedBy]: 'edge',
      ...(claimed !== undefined && { [HEADER.residencyJurisdiction]: claimed }),
      ...(retryAfter !== undefined && { 'retry-after': String(retryAfter) }),
    },
  });
}
