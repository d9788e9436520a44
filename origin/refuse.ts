import type { Refusal } from '../shared/errors.ts';
import type { Call } from './admit/call.ts';
import { toldFacts } from './attempt-records.ts';
import type { Gateway } from './gateway.ts';
import { sendRefusal } from './reply.ts';

/**
 * Refuses a call of which nothing was forwarded: the record first, then the answer. A refusal stands even
 * where its record cannot be written, since nothing left the zone.
 */
export async function refuse(gateway: Gateway, call: Call, refusal: Refusal): Promise<void> {
  const record = gateway.records.make('refused', {
    ...call.facts,
    ...toldFacts(refusal),
    latency_ms: Math.max(gateway.clock.now() - call.startedAt, 0),
  });
  const kept = gateway.ledger.append(record).then(({ ok }) => {
    if (!ok) gateway.logger.error({ code: refusal.code }, 'a refusal is not recorded yet');
  });
  // Where the log cannot be written, waiting for it once is enough; the ledger keeps the record meanwhile.
  if (refusal.code === 'ledger_unavailable') sendRefusal(call, refusal);
  await kept;
  sendRefusal(call, refusal);
}
