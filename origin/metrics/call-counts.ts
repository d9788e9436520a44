import { REFUSALS_PATH } from '../../shared/assertion.ts';
import { operationOf } from './gen-ai.ts';
import type { Instruments } from './instruments.ts';
import { type KnownNames, labelOf } from './known-names.ts';
import type { EndedCall } from './metrics.ts';
import { seconds } from './seconds.ts';

/** What a path that is no route is called, whatever it is. */
const NO_ROUTE = 'other';

/** Counts a call that has ended, and the times of one that an endpoint has answered. */
export function countCall(to: Instruments, known: KnownNames, call: EndedCall, now: number): void {
  const route = call.route ?? (call.target === REFUSALS_PATH ? REFUSALS_PATH : NO_ROUTE);
  const workload = labelOf(call.facts.workload, known.workload);
  const { outcome, code = '' } = endOf(call);
  to.requests.inc({ route, workload, outcome, code });
  const operation = operationOf(call.route);
  if (operation === undefined) return;

  const labels = { gen_ai_operation_name: operation, gen_ai_request_model: workload };
  const error_type = outcome === 'served' ? '' : code || outcome;
  to.requestDuration.observe({ ...labels, error_type }, seconds(now - call.startedAt));
  if (call.begun === undefined) return;
  const first = call.begun.at - call.startedAt;
  to.addedLatency.observe({ route }, seconds(first - call.waitedMs));
  (call.begun.streamed ? to.firstToken : to.firstByte).observe(labels, seconds(first));
}

function endOf({ told, stoppedBy }: EndedCall): NonNullable<EndedCall['told']> {
  // Whoever has hung up was not told what was said after it.
  if (stoppedBy === 'client') return { outcome: 'interrupted' };
  return told ?? { outcome: 'failed' };
}
