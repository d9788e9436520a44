import type { IncomingHttpHeaders } from 'node:http';
import { HEADER } from '../shared/headers.ts';
import type { Call } from './admit/call.ts';
import { type AttemptRecords, toldFacts } from './attempt-records.ts';
import type { Facts } from './audit/records.ts';
import type { HeaderReader } from './endpoints/provider.ts';
import type { Ending } from './forward/answer-body.ts';
import type { Answer } from './forward/attempt.ts';
import { headersDown } from './forward/headers.ts';
import type { Gateway } from './gateway.ts';
import { type Evidence, weigh } from './policy/evidence.ts';
import type { Standpoint } from './policy/standing.ts';
import { Outflow, sendRefusal } from './reply.ts';

/** Hands an endpoint's answer to the caller: observe → record → receipt, and only then the first byte. */
export async function deliver(
  gateway: Gateway,
  call: Call,
  standpoint: Standpoint,
  attempt: AttemptRecords,
  answer: Answer,
): Promise<void> {
  const { endpoint, workload } = attempt;
  const evidence = weigh(endpoint, headerReader(answer.headers), workload, standpoint);
  const observed: Partial<Facts> = {
    ...evidence.facts,
    upstream_status: answer.status,
    streamed: answer.dialect !== undefined,
    ttft_ms: gateway.clock.now() - attempt.startedAt,
  };
  if (!evidence.allowed) {
    answer.body.abort();
    await attempt.append('violation', { ...observed, ...toldFacts({ code: 'region_violation' }) });
    gateway.logger.error(
      { endpoint: endpoint.id, region: evidence.facts.serving_region },
      'region violation',
    );
    return sendRefusal(call, { code: 'region_violation' }, 'failed');
  }
  const rejected = answer.verdict === 'rejected';
  const { record, kept } = rejected
    ? await attempt.append('failed', { ...observed, code: 'upstream_rejected', status: answer.status })
    : await attempt.append('served', observed);
  if (!kept.ok) {
    answer.body.abort();
    if (!rejected)
      await attempt.append('failed', { ...observed, ...toldFacts({ code: 'ledger_unavailable' }) });
    return sendRefusal(call, { code: 'ledger_unavailable' }, 'failed');
  }
  const receipt = await gateway.receipts.sign(record, kept.value.leaf);
  begin(call, attempt, answer, evidence, receipt);
  const relayed = await relay(gateway, call, answer);
  if (rejected) return;
  await attempt.append(relayed.ending.kind, {
    ...observed,
    status: answer.status,
    response_bytes: relayed.bytes,
    input_tokens: answer.body.usage.inputTokens,
    output_tokens: answer.body.usage.outputTokens,
    ...(relayed.ending.kind === 'interrupted' && interruption(relayed.by)),
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
  attempt: AttemptRecords,
  answer: Answer,
  evidence: Evidence,
  receipt: string,
): void {
  const { serving_region, region_source } = evidence.facts;
  call.outgoing.writeHead(answer.status, {
    ...headersDown(answer.headers, answer.decoded),
    ...call.headers,
    [HEADER.outcome]: answer.verdict === 'accepted' ? 'served' : 'failed',
    [HEADER.endpoint]: attempt.endpoint.id,
    ...(serving_region !== undefined && { [HEADER.region]: serving_region }),
    ...(region_source !== undefined && { [HEADER.regionSource]: region_source }),
    [HEADER.attempts]: String(attempt.number),
    [HEADER.receipt]: receipt,
  });
}

type Interrupter = 'client' | 'gateway' | 'endpoint';

interface Relayed {
  readonly ending: Ending;
  readonly by: Interrupter;
  /** Bytes handed to the caller. */
  readonly bytes: number;
}

/** Passes the answer on piece by piece, no faster than the caller reads, and ends it as it deserves. */
async function relay(gateway: Gateway, call: Call, answer: Answer): Promise<Relayed> {
  const outflow = new Outflow(call, gateway.clock, gateway.config.limits.client_stall_ms);
  let piece = answer.opening;
  for (;;) {
    if (piece.bytes.length > 0 && !(await outflow.write(piece.bytes))) break;
    if (piece.end) return await finish(call, answer, outflow, piece.end);
    piece = await answer.body.next();
    if (call.stoppedBy === 'client') break;
  }
  answer.body.abort();
  const ending: Ending = { kind: 'interrupted', told: false, why: 'the caller stopped reading' };
  return { ending, by: call.stoppedBy ?? 'client', bytes: outflow.bytes };
}

async function finish(call: Call, answer: Answer, outflow: Outflow, ending: Ending): Promise<Relayed> {
  answer.body.abort();
  const by = call.stoppedBy ?? 'endpoint';
  if (ending.kind === 'interrupted' && answer.dialect === undefined) {
    outflow.cut();
    return { ending, by, bytes: outflow.bytes };
  }
  const told = ending.kind === 'completed' || ending.told;
  const ended = await outflow.end(
    told ? undefined : answer.dialect?.errorEvent({ code: 'upstream_interrupted' }, call.requestId),
  );
  const cut: Ending = { kind: 'interrupted', told: false, why: 'the caller did not take the end' };
  return ended || ending.kind === 'interrupted'
    ? { ending, by, bytes: outflow.bytes }
    : { ending: cut, by: 'client', bytes: outflow.bytes };
}
