import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { Call } from './admit/call.ts';
import { type AttemptRecords, toldFacts } from './attempt-records.ts';
import type { Facts } from './audit/records.ts';
import type { Endpoint } from './endpoints/endpoint.ts';
import { headerReader } from './endpoints/header-reader.ts';
import type { Answer } from './forward/attempt.ts';
import { headersDown } from './forward/headers.ts';
import type { Gateway } from './gateway.ts';
import type { AttemptEnd } from './health/outcome.ts';
import { type Evidence, weigh } from './policy/evidence.ts';
import type { Standpoint } from './policy/standing.ts';
import { type Interrupter, type Relayed, relay } from './relay.ts';
import { sendRefusal } from './reply.ts';

/** An endpoint's answer up to its first content, and the records of the attempt that it came of. */
export interface Answered {
  readonly records: AttemptRecords;
  readonly answer: Answer;
  /** Tells the circuits how the attempt ended; only the first word counts. */
  tell(end: AttemptEnd): void;
}

const MISPLACED = 'gave evidence of a region outside the policy; a person must release it';
const VIOLATION: Refusal = { code: 'region_violation' };
const UNRECORDED: Refusal = { code: 'ledger_unavailable' };

/** Hands an endpoint's answer to the caller: observe → record → receipt, and only then the first byte. */
export async function deliver(
  gateway: Gateway,
  call: Call,
  standpoint: Standpoint,
  answered: Answered,
): Promise<void> {
  const { records, answer } = answered;
  const evidence = weigh(records.endpoint, headerReader(answer.headers), records.workload, standpoint);
  const observed: Partial<Facts> = {
    ...evidence.facts,
    upstream_status: answer.status,
    streamed: answer.dialect !== undefined,
    ttft_ms: gateway.clock.now() - records.startedAt,
  };
  const end = answeredEnd(gateway, standpoint, answered);
  if (!evidence.allowed) {
    answer.body.close();
    call.headers[HEADER.endpoint] = records.endpoint.id;
    await quarantine(gateway, records.endpoint, evidence);
    await records.append('violation', { ...observed, ...toldFacts(VIOLATION) });
    return sendRefusal(call, VIOLATION, 'failed');
  }

  const rejected = answer.verdict === 'rejected';
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
  const relayed = await relay(gateway, call, answer);
  answered.tell(rejected || relayed.kind === 'completed' ? end : brokenEnd(relayed));
  if (rejected) return;
  await records.append(relayed.kind, {
    ...observed,
    status: answer.status,
    response_bytes: relayed.bytes,
    input_tokens: answer.body.usage.inputTokens,
    output_tokens: answer.body.usage.outputTokens,
    ...(relayed.kind === 'interrupted' && interruption(relayed.by)),
  });
}

/** Takes the endpoint out for every tenant of the zone, durably, until a person puts it back. */
async function quarantine({ health, logger }: Gateway, { id }: Endpoint, { facts }: Evidence): Promise<void> {
  const { serving_region: region, region_source: source } = facts;
  const evidence = region !== undefined && source !== undefined ? { region, source } : undefined;
  health.circuits.quarantine(id, MISPLACED, evidence);
  logger.error({ endpoint: id, region, source }, 'region violation: the endpoint is quarantined');
  // Where it cannot be kept now it is tried again, and the record of the violation tells of it meanwhile.
  await health.kept().catch(() => undefined);
}

/** What the answer up to its first content was for its endpoint. */
export function answeredEnd(
  { clock }: Gateway,
  { policy }: Standpoint,
  { records, answer }: Pick<Answered, 'records' | 'answer'>,
): AttemptEnd {
  return {
    kind: 'answered',
    status: answer.status,
    headers: answer.headers,
    ...(answer.dialect && { ttftMs: clock.now() - records.startedAt }),
    maxTtftMs: policy.document.workloads[records.workload]?.health.max_ttft_ms ?? Infinity,
    requestBytes: records.requestBytes,
  };
}

const brokenEnd = (relayed: Relayed): AttemptEnd =>
  relayed.kind === 'interrupted' && relayed.by === 'endpoint'
    ? { kind: 'broken', why: 'its answer broke off' }
    : { kind: 'gone' };

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
    ...headersDown(answer.headers, answer.decoded),
    ...call.headers,
    [HEADER.outcome]: answer.verdict === 'accepted' ? 'served' : 'failed',
    [HEADER.endpoint]: records.endpoint.id,
    ...(serving_region !== undefined && { [HEADER.region]: serving_region }),
    ...(region_source !== undefined && { [HEADER.regionSource]: region_source }),
    [HEADER.receipt]: receipt,
  });
}
