import type { Context, Hono } from 'hono';
import type { Endpoint } from '../endpoints/endpoint.ts';
import type { Gateway } from '../gateway.ts';
import { neverServes } from '../policy/never-serves.ts';
import {
  ENDPOINT_ORDERS,
  giveOrder,
  type OrderFault,
  type OrderName,
  orderSchema,
} from './endpoint-orders.ts';
import { type EndpointView, endpointView } from './endpoint-view.ts';
import { orderLimit, readOrder, said } from './order-body.ts';

/** Bytes of an order at most: room for its words, however they are escaped. */
const ORDER_BYTES = 8_192;

const UNKNOWN = said('No endpoint of the registry has this id. GET /admin/endpoints lists them.');
const FORM =
  'Send the order as JSON: {"by": "who", "why": "reason", "minutes": 30}; minutes may be left out.';

/** `GET /admin/endpoints`, and `POST /admin/endpoints/<id>/open`, `/close` and `/release`. */
export function endpointRoutes(app: Hono, gateway: Gateway): void {
  const { config } = gateway;
  app.get('/admin/endpoints', (c) =>
    c.json({
      jurisdiction: config.jurisdiction,
      endpoints: [...config.registry.values()].map((endpoint) => viewOf(gateway, endpoint)),
    }),
  );
  const limit = orderLimit(ORDER_BYTES);
  for (const name of ENDPOINT_ORDERS) {
    app.post(`/admin/endpoints/:id/${name}`, limit, (c) => takeOrder(c, gateway, name, c.req.param('id')));
  }
}

async function takeOrder(c: Context, gateway: Gateway, name: OrderName, id: string): Promise<Response> {
  const endpoint = gateway.config.registry.get(id);
  if (endpoint === undefined) return c.json(UNKNOWN, 404);
  const order = await readOrder(c, orderSchema, FORM);
  if (!order.ok) return order.error;
  const given = await giveOrder(gateway, endpoint, name, order.value);
  if (given.ok) return c.json(viewOf(gateway, endpoint));
  const { status, message } = faultAnswer(given.error);
  return c.json(said(message), status);
}

const viewOf = ({ config, health }: Gateway, endpoint: Endpoint): EndpointView => {
  const { orders, circuits, prober } = health;
  return endpointView(endpoint, {
    never: neverServes(endpoint, config.policies.values(), config.jurisdiction),
    state: orders.of(endpoint.id),
    recent: circuits.recent.of(endpoint.id),
    cost: prober.costs.get(endpoint.id),
  });
};

function faultAnswer(fault: OrderFault): { readonly status: 400 | 409 | 503; readonly message: string } {
  switch (fault) {
    case 'endless':
      return { status: 400, message: 'A release has no end: leave minutes out.' };
    case 'quarantined':
      return {
        status: 409,
        message:
          'The endpoint is quarantined: it gave evidence of a region outside its policy. Find out why, and then release it; nothing else lets it in again.',
      };
    case 'not_ordered':
      return {
        status: 409,
        message:
          'There is nothing to release: neither an order nor a quarantine holds this endpoint. An open circuit closes by itself once a probe succeeds; close it by order to let calls in now.',
      };
    case 'unrecorded':
      return {
        status: 503,
        message: 'The order holds, but the audit log cannot be written. It is recorded as soon as it can be.',
      };
    case 'not_kept':
      return {
        status: 503,
        message:
          'The order holds and is on record, but could not be kept: a restart before the next try would forget it.',
      };
  }
}
