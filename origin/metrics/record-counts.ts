import type { AuditRecord } from '../../shared/record.ts';
import { operationOf, providerNameOf } from './gen-ai.ts';
import type { Instruments } from './instruments.ts';
import { type KnownNames, labelOf } from './known-names.ts';
import { seconds } from './seconds.ts';

/** How an attempt ended; `hung_up` by its caller, `rejected` by the endpoint's verdict on the request. */
type Result = 'completed' | 'rejected' | 'failed' | 'interrupted' | 'hung_up' | 'violation';

/** Counts what a record tells, so that the metrics can say nothing else than the log. */
export function countRecord(to: Instruments, known: KnownNames, record: AuditRecord): void {
  switch (record.kind) {
    case 'refused':
      to.refusals.inc({ code: record.code ?? '', decided_by: record.actor === 'edge' ? 'edge' : 'origin' });
      break;
    case 'served':
      if (record.streamed && record.ttft_ms !== undefined)
        to.firstChunk.observe(clientLabels(known, record), seconds(record.ttft_ms));
      break;
    case 'violation':
      to.violations.inc({
        ...endpointLabel(known, record),
        source: record.region_source ?? '',
        verdict: record.region_verdict ?? '',
      });
      // A probe's answer can be a violation too, and is no attempt of a call.
      if (record.pending_id !== undefined) countEnd(to, known, record, 'violation');
      break;
    case 'failed':
      countEnd(to, known, record, record.code === 'upstream_rejected' ? 'rejected' : 'failed');
      break;
    case 'completed':
      countEnd(to, known, record, 'completed');
      break;
    case 'interrupted':
      countEnd(to, known, record, record.actor === 'client' ? 'hung_up' : 'interrupted');
      break;
    case 'pending':
    case 'abandoned':
    case 'control':
      break;
  }
}

function countEnd(to: Instruments, known: KnownNames, record: AuditRecord, result: Result): void {
  to.attempts.inc({ ...endpointLabel(known, record), result });
  const labels = clientLabels(known, record);
  if (record.latency_ms !== undefined) {
    const error_type = result === 'completed' ? '' : result;
    to.operationDuration.observe({ ...labels, error_type }, seconds(record.latency_ms));
  }
  const { input_tokens: input, output_tokens: output } = record;
  if (typeof input === 'number') to.tokens.observe({ ...labels, gen_ai_token_type: 'input' }, input);
  if (typeof output === 'number') to.tokens.observe({ ...labels, gen_ai_token_type: 'output' }, output);
}

const endpointLabel = ({ endpoint }: KnownNames, record: AuditRecord) => ({
  endpoint: labelOf(record.endpoint, endpoint),
});

const clientLabels = (known: KnownNames, record: AuditRecord) => ({
  ...endpointLabel(known, record),
  gen_ai_operation_name: operationOf(record.route) ?? 'other',
  gen_ai_provider_name: providerNameOf(record.provider),
  gen_ai_request_model: labelOf(record.workload, known.workload),
});
