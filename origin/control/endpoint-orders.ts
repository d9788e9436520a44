import { z } from 'zod';
import { isPartOfSystem } from '../../shared/person.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import { RELEASED } from '../audit/violations.ts';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Gateway } from '../gateway.ts';
import type { Circuit } from '../health/circuit.ts';

export const ENDPOINT_ORDERS = ['open', 'close', 'release'] as const;
export type OrderName = (typeof ENDPOINT_ORDERS)[number];

/** Longest time for which an order can be given, in minutes: a week. One without an end has none of these. */
export const ORDER_MINUTES_MAX = 10_080;

const MINUTE_MS = 60_000;

const words = (most: number) =>
  z
    .string()
    .trim()
    .max(most)
    .regex(/^[\p{L}\p{N}\p{P}\p{S} ]+$/u, `must be 1 to ${most} printable characters on one line`);

/** Who gives an order, why, and for how long; without `minutes` until it is taken back. */
export const orderSchema = z.strictObject({
  by: words(64).refine((name) => !isPartOfSystem(name), {
    error: 'is what records call a part of the system by: name the person who gives the order',
  }),
  why: words(256),
  minutes: z.int().min(1).max(ORDER_MINUTES_MAX).exactOptional(),
});

export type OperatorOrder = z.infer<typeof orderSchema>;

/**
 * Why an order has not its whole effect. After `unrecorded` and `not_kept` it holds all the same, and what is
 * missing is tried again; after the others nothing was changed.
 */
export type OrderFault = 'quarantined' | 'not_ordered' | 'endless' | 'unrecorded' | 'not_kept';

/** Forces a circuit open or closed, or takes that or a quarantine back; on record, and kept over a restart. */
export async function giveOrder(
  gateway: Gateway,
  endpoint: Endpoint,
  name: OrderName,
  order: OperatorOrder,
): Promise<Result<void, OrderFault>> {
  const { health, ledger, records, config } = gateway;
  const { circuit } = health.orders.of(endpoint.id);
  const unfit = unfitness(circuit, name, order);
  if (unfit !== undefined) return err(unfit);
  // Before the circuit changes: a crash between the two leaves an order on record that has no effect, never a
  // call at an endpoint that nobody has let in again. It is written in front of every call after it.
  const recorded = await ledger.append(
    records.make('control', {
      jurisdiction: config.jurisdiction,
      endpoint: endpoint.id,
      provider: endpoint.provider,
      actor: order.by,
      selection_reason: `${DONE[name]}${span(order)}, was ${circuit.kind}: ${order.why}`,
    }),
  );
  // A ledger that cannot write now keeps the record, so what it says has to come true.
  if (!apply(gateway, endpoint, name, order, circuit)) return err('quarantined');
  const kept = await health.kept().then(
    () => true,
    () => false,
  );
  if (!recorded.ok) return err('unrecorded');
  return kept ? ok(undefined) : err('not_kept');
}

const DONE = { open: 'circuit forced open', close: 'circuit forced closed', release: RELEASED };

const span = ({ minutes }: OperatorOrder): string =>
  minutes === undefined ? '' : ` for ${minutes} ${minutes === 1 ? 'minute' : 'minutes'}`;

function unfitness(circuit: Circuit, name: OrderName, order: OperatorOrder): OrderFault | undefined {
  if (name !== 'release') return circuit.kind === 'quarantined' ? 'quarantined' : undefined;
  if (order.minutes !== undefined) return 'endless';
  return circuit.kind === 'quarantined' || 'by' in circuit ? undefined : 'not_ordered';
}

/** False where evidence of a wrong region has come in between. */
function apply(
  { health: { orders }, clock }: Gateway,
  { id }: Endpoint,
  name: OrderName,
  { by, why, minutes }: OperatorOrder,
  seen: Circuit,
): boolean {
  const until = minutes === undefined ? {} : { until: clock.now() + minutes * MINUTE_MS };
  switch (name) {
    case 'open':
      return orders.force(id, 'forced_open', { by, why, ...until }).ok;
    case 'close':
      return orders.force(id, 'forced_closed', { by, why, ...until }).ok;
    case 'release':
      return orders.release(id, seen).ok;
  }
}
