import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { Call } from './admit/call.ts';
import { answeredEnd, brokenEnd } from './attempt-ends.ts';
import { type AttemptRecords, toldFacts } from './attempt-records.ts';
import type { Facts } from './audit/records.ts';
import type { Answer } from './forward/answer.ts';
import { headersDown } from './forward/headers.ts';
import type { Gateway } from './gateway.ts';
import type { AttemptEnd } from './health/outcome.ts';
import type { Evidence } from './policy/evidence.ts';
import type { Standpoint } from './policy/standing.ts';
import { type Interrupter, type Relayed, relay } from './relay.ts';
import { sendRefusal } from './reply.ts';
import { EvidenceWatch, withhold } from './violation.ts';

/** An endpoint's answer up to its first content, and the records of the attempt that it came of. */
export interface Answered {
  readonly records: AttemptRecords;
  readonly answer: Answer;
  /** Tells the circuits how the attempt ended; only the first word counts. */
  tell(end: AttemptEnd): void;
}

const UNRECORDED: Refusal = { code: 'ledger_unavailable' };

/** Hands an endpoint's answer to the caller: observe → record → receipt, and only then the first byte. */
export async function deliver(
  gateway: Gateway,
  call: Call,
  standpoint: Standpoint,
  answered: Answered,
): Promise<void> {
  const { records, answer } = answered;
  const watch = new EvidenceWatch(gateway, answered, standpoint);
  const { evidence } = watch;
  const observed: Partial<Facts> = {
    ...evidence.facts,
    upstream_status: answer.upstreamStatus,
    streamed: answer.dialect !== undefined,
    ttft_ms: Math.round(answer.ttftMs),
  };
  const end = answeredEnd(standpoint, records, answer);
  const rejected = answer.verdict === 'rejected';
  // A verdict on the request is no answer of a model, and those who give it may not know where one runs.
  if (evidence.finding === 'misplaced' || (evidence.finding === 'too_weak' && !rejected)) {
    answer.body.close();
    answered.tell({ kind: 'gone' });
    return await withhold(gateway, call, records, evidence, observed);
  }

  const { record, kept } = rejected
    ? await records.append('failed', { ...observed, code: 'upstream_rejected', status: answer.status })
    : await records.append('served', observed);
  if (!kept.ok) {
    answer.body.close();
    // The caller has waited for the log once, which is enough; the ledger keeps what has to be written.
    sendRefusal(call, UNRECORDED, 'failed');
    if (!rejected) await records.append('failed', { ...observed, ...toldFacts(UNRECORDED) });
    return;
  }

  const receipt = await gateway.receipts.sign(record, kept.value.leaf);
  begin(call, records, answer, evidence, receipt);
  call.begun = { at: gateway.clock.now(), streamed: answer.dialect !== undefined };
  const relayed = await relay(gateway, call, answer, () => watch.allows());
  const misplaced = watch.evidence.finding === 'misplaced';
  call.told = toldBy(rejected, misplaced, relayed);
  answered.tell(rejected || relayed.kind === 'completed' ? end : brokenEnd(relayed));
  await watch.kept();
  if (rejected) return;
  await records.append(misplaced ? 'violation' : relayed.kind, {
    ...observed,
    ...watch.evidence.facts,
    status: answer.status,
    response_bytes: relayed.bytes,
    input_tokens: answer.body.usage.inputTokens,
    output_tokens: answer.body.usage.outputTokens,
    ...(relayed.kind === 'interrupted' && interruption(relayed.by)),
    ...(misplaced && { code: 'region_violation' }),
  });
}

/** In the end: what the head said, unless the answer was not whole. */
function toldBy(rejected: boolean, misplaced: boolean, { kind }: Relayed): Call['told'] {
  if (misplaced) return { outcome: 'interrupted', code: 'region_violation' };
  if (rejected) return { outcome: 'failed', code: 'upstream_rejected' };
  return kind === 'completed'
    ? { outcome: 'served' }
    : { outcome: 'interrupted', code: 'upstream_interrupted' };
}

/** The caller's own hanging up has no code: nobody was told one. */
const interruption = (by: Interrupter): Partial<Facts> =>
  by === 'client' ? { actor: by } : { actor: by, code: 'upstream_interrupted' };

function begin(
  call: Call,
  records: AttemptRecords,
  answer: Answer,
  evidence: Evidence,
  receipt: string,
): void {
  const { serving_region, region_source } = evidence.facts;
  call.outgoing.writeHead(answer.status, {
    ...headersDown(answer.headers, answer.decoded || answer.dialect !== undefined),
    ...call.headers,
    [HEADER.outcome]: answer.verdict === 'accepted' ? 'served' : 'failed',
    [HEADER.endpoint]: records.endpoint.id,
    ...(serving_region !== undefined && { [HEADER.region]: serving_region }),
    ...(region_source !== undefined && { [HEADER.regionSource]: region_source }),
    [HEADER.receipt]: receipt,
  });
}
