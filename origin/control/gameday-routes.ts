import type { Context, Hono } from 'hono';
import type { z } from 'zod';
import type { Result } from '../../shared/result.ts';
import type { Gateway } from '../gateway.ts';
import { beginGameDay, endGameDay, forcedOpen, type GameDayFault } from './gameday-orders.ts';
import { type GameDayList, gameDayEndSchema, gameDaySchema } from './gameday-view.ts';
import { orderLimit, readOrder, said } from './order-body.ts';

/** Bytes of an order at most: room for its words, however they are escaped. */
const ORDER_BYTES = 16_384;

const FORM =
  'Send JSON: {"tenant": "t", "endpoints": ["e"], "minutes": 30, "by": "who", "why": "reason"}; to stop, without endpoints and minutes.';

/** Game days: `GET /admin/gamedays` what is forced open for whom, `POST /admin/gamedays` and `/admin/gamedays/stop`. */
export function gameDayRoutes(app: Hono, gateway: Gateway): void {
  const limit = orderLimit(ORDER_BYTES);
  app.get('/admin/gamedays', (c) => c.json(listOf(gateway)));
  app.post('/admin/gamedays', limit, (c) =>
    obey(c, gateway, gameDaySchema, (order) => beginGameDay(gateway, order)),
  );
  app.post('/admin/gamedays/stop', limit, (c) =>
    obey(c, gateway, gameDayEndSchema, (order) => endGameDay(gateway, order)),
  );
}

async function obey<T>(
  c: Context,
  gateway: Gateway,
  schema: z.ZodType<T>,
  give: (order: T) => Promise<Result<void, GameDayFault>>,
): Promise<Response> {
  const order = await readOrder(c, schema, FORM);
  if (!order.ok) return order.error;
  const given = await give(order.value);
  if (given.ok) return c.json(listOf(gateway));
  const { status, message } = faultAnswer(given.error);
  return c.json(said(message), status);
}

const time = (ms: number): string => new Date(ms).toISOString();

const listOf = (gateway: Gateway): GameDayList => ({
  jurisdiction: gateway.config.jurisdiction,
  game_days: forcedOpen(gateway).map(({ since, until, ...drill }) => ({
    ...drill,
    ...{ since: time(since), until: time(until) },
  })),
});

function faultAnswer(fault: GameDayFault): { readonly status: 404 | 409 | 503; readonly message: string } {
  switch (fault) {
    case 'no_tenant':
      return { status: 404, message: 'This origin serves no tenant of that id.' };
    case 'no_endpoint':
      return {
        status: 404,
        message:
          "No graph of the tenant's policy has an endpoint of that id. GET /admin/endpoints lists them.",
      };
    case 'too_many':
      return { status: 409, message: 'The endpoint has as many game days as it can have at once: end some.' };
    case 'none':
      return { status: 409, message: 'Nothing is forced open for this tenant now.' };
    case 'unrecorded':
      return {
        status: 503,
        message: 'It holds, but the audit log cannot be written. It is recorded as soon as it can be.',
      };
    case 'not_kept':
      return {
        status: 503,
        message:
          'It holds and is on record, but could not be kept: a restart before the next try would forget it.',
      };
  }
}
