import type { Refusal } from '../shared/errors.ts';
import type { Call } from './admit/call.ts';
import type { ReadBody } from './admit/workload.ts';
import { answerEstimate, isEstimated } from './count-estimate.ts';
import type { Entered } from './course.ts';
import { refuse } from './refuse.ts';
import { sendRefusal } from './reply.ts';

/** The end of a call that no endpoint answers: refused, failed, or for a count of tokens estimated. */
export async function nothingLeft(
  entered: Entered,
  body: ReadBody,
  refusal: Refusal,
  attempted: boolean,
): Promise<undefined> {
  if (isEstimated(entered.route, refusal)) {
    return await answerEstimate(entered, body.bytes, refusal, attempted);
  }
  return attempted ? failed(entered.call, refusal) : await refused(entered, refusal);
}

/** Of which nothing was forwarded. */
export async function refused({ gateway, call }: Entered, refusal: Refusal): Promise<undefined> {
  await refuse(gateway, call, refusal);
}

/** Of which something was forwarded; the records of its attempts say what. */
export function failed(call: Call, refusal: Refusal): undefined {
  sendRefusal(call, refusal, 'failed');
}

/** Without its `pending`, an attempt is not made; the call is refused, unless an earlier one has left already. */
export async function unrecorded(entered: Entered, attemptsMade: number): Promise<undefined> {
  const refusal: Refusal = { code: 'ledger_unavailable' };
  return attemptsMade === 0 ? await refused(entered, refusal) : failed(entered.call, refusal);
}
