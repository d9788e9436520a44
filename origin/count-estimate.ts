import type { Refusal } from '../shared/errors.ts';
import { HEADER } from '../shared/headers.ts';
import type { ModelRoute } from '../shared/routes.ts';
import type { Entered } from './course.ts';
import { estimateTokens } from './forward/token-estimate.ts';
import { refuse } from './refuse.ts';
import { send, sendRefusal } from './reply.ts';

/** A refusal that leaves no endpoint, for good or for now. */
type NothingLeft = Extract<Refusal, { readonly code: 'region_blocked' | 'no_compliant_endpoint' }>;

/** Whether a call that no endpoint may or can answer is answered by an estimate: a count of tokens is. */
export const isEstimated = (route: ModelRoute, refusal: Refusal): refusal is NothingLeft =>
  route.path === '/v1/messages/count_tokens' &&
  (refusal.code === 'region_blocked' || refusal.code === 'no_compliant_endpoint');

/**
 * Answers a count of tokens by an estimate of the origin's own, for which the content goes nowhere. It is on
 * record as a `served` that belongs to no `pending` and names no endpoint; its count is a guess and so is not.
 */
export async function answerEstimate(
  { gateway, call }: Entered,
  body: Buffer,
  { code, candidates }: NothingLeft,
  attempted: boolean,
): Promise<undefined> {
  const record = gateway.records.make('served', {
    ...call.facts,
    actor: 'gateway',
    status: 200,
    candidates: [...candidates],
    selection_reason: `local estimate: no endpoint is left to count (${code})`,
    latency_ms: Math.max(gateway.clock.now() - call.startedAt, 0),
  });
  const kept = await gateway.ledger.append(record);
  if (kept.ok) {
    const counted = { input_tokens: await estimateTokens(body) };
    send(call, 200, 'served', counted, { [HEADER.estimate]: 'true' });
    return;
  }
  const refusal: Refusal = { code: 'ledger_unavailable' };
  if (attempted) sendRefusal(call, refusal, 'failed');
  else await refuse(gateway, call, refusal);
}
