import { type Answer, bytes, events, json } from './answer.ts';
import { readAsked } from './asked.ts';
import { compose } from './compose.ts';
import { echoOf } from './echo.ts';
import { errorDocument, usualError } from './error-body.ts';
import type { Exchange } from './exchange.ts';
import type { Order } from './order.ts';
import { routeOf } from './route.ts';
import { taskOf } from './task.ts';

export interface Decision {
  readonly status: number;
  readonly answer: Answer;
}

/** What a request is answered with: as ordered, else what the API says to such a request. */
export async function decide(exchange: Exchange, provider: string): Promise<Decision> {
  const { order, arrival, api } = exchange;
  const status = order.redirect?.status ?? order.status ?? 200;
  if (order.body !== undefined) return { status, answer: bytes('application/json', order.body) };
  if (order.events !== undefined) return { status, answer: events(orderedFrames(order.events)) };
  if (status >= 400) return { status, answer: failure(exchange, status, order.error) };
  if (order.redirect !== undefined) return { status, answer: json({}) };
  const route = routeOf(arrival.method, arrival.path);
  if (route === undefined) return refuse(exchange, 404, `Invalid URL (${arrival.method} ${arrival.path})`);
  const asked = await readAsked(route, arrival.body, arrival.header('content-type'));
  if (!asked.ok) return refuse(exchange, 400, asked.error);
  return { status, answer: compose(route, api, taskOf(asked.value, order, provider, arrival.index)) };
}

/** A refusal that no order asked for: the request itself was wrong. */
export const refuse = (exchange: Exchange, status: number, message: string): Decision => ({
  status,
  answer: failure(exchange, status, { message }),
});

function failure(exchange: Exchange, status: number, ordered: Order['error']): Answer {
  const { api, arrival, order } = exchange;
  const usual = usualError(api, status, ordered);
  const filler = 'x'.repeat(order.textBytes ?? 0);
  const message = [usual.message, echoOf(exchange), filler].filter((part) => part !== '').join(' ');
  return json(errorDocument(api, { ...usual, message }, `req_${arrival.index}`));
}

function orderedFrames(list: NonNullable<Order['events']>) {
  return list.map(({ event, data }, at) => ({
    part: at === list.length - 1 ? ('terminator' as const) : ('content' as const),
    data,
    ...(event !== undefined && { event }),
  }));
}
