import type { IncomingHttpHeaders } from 'node:http';
import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { Call } from './admit/call.ts';
import { type AttemptRecords, toldFacts } from './attempt-records.ts';
import type { Facts } from './audit/records.ts';
import type { HeaderReader } from './endpoints/provider.ts';
import type { Answer } from './forward/attempt.ts';
import { headersDown } from './forward/headers.ts';
import type { Gateway } from './gateway.ts';
import { type Evidence, weigh } from './policy/evidence.ts';
import type { Standpoint } from './policy/standing.ts';
import { type Interrupter, relay } from './relay.ts';
import { sendRefusal } from './reply.ts';

/** An endpoint's answer up to its first content, and the records of the attempt that it came of. */
export interface Answered {
  readonly records: AttemptRecords;
  readonly answer: Answer;
}

const VIOLATION: Refusal = { code: 'region_violation' };
const UNRECORDED: Refusal = { code: 'ledger_unavailable' };

/** Hands an endpoint's answer to the caller: observe → record → receipt, and only then the first byte. */
export async function deliver(
  gateway: Gateway,
  call: Call,
  standpoint: Standpoint,
  { records, answer }: Answered,
): Promise<void> {
  const evidence = weigh(records.endpoint, headerReader(answer.headers), records.workload, standpoint);
  const observed: Partial<Facts> = {
    ...evidence.facts,
    upstream_status: answer.status,
    streamed: answer.dialect !== undefined,
    ttft_ms: gateway.clock.now() - records.startedAt,
  };
  if (!evidence.allowed) {
    answer.body.close();
    call.headers[HEADER.endpoint] = records.endpoint.id;
    await records.append('violation', { ...observed, ...toldFacts(VIOLATION) });
    const { serving_region: region } = evidence.facts;
    gateway.logger.error({ endpoint: records.endpoint.id, region }, 'region violation');
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

const headerReader =
  (headers: IncomingHttpHeaders): HeaderReader =>
  (name) => {
    const value = headers[name];
    return typeof value === 'string' ? value : undefined;
  };

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
