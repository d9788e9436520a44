import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { modelOf } from './asked.ts';
import { MAX_BODY_BYTES, readBody } from './body.ts';
import { type Decision, decide, refuse } from './decide.ts';
import { Exchange } from './exchange.ts';
import { Gates } from './gates.ts';
import type { RegionReport } from './head.ts';
import { type OrderInput, type OrderOptions, orderOptionsSchema, orderSchema } from './order.ts';
import { OrderBook } from './order-book.ts';
import { Reception } from './reception.ts';
import { reply } from './reply.ts';
import { spokenApi } from './route.ts';

/** Takes each request from its first header to the last byte of its answer, as the orders in force say. */
export class Desk {
  readonly reception = new Reception();
  readonly gates = new Gates();
  readonly #orders = new OrderBook();
  readonly #name: string;
  readonly #region: RegionReport | undefined;
  /** Connections that an order has marked to be reset by the next request on them. */
  readonly #doomed = new WeakSet<Socket>();
  readonly #running = new Set<Exchange>();

  constructor(name: string, region: RegionReport | undefined) {
    this.#name = name;
    this.#region = region;
  }

  order(input: OrderInput, options: OrderOptions): void {
    const order = orderSchema.parse(input);
    this.#orders.add(order, orderOptionsSchema.parse(options));
    for (const point of [order.gate ?? []].flat()) this.gates.shut(point);
  }

  reset(): void {
    this.#cutAll();
    this.#orders.clear();
    this.gates.shutAll();
    this.reception.clear();
  }

  close(): void {
    this.#cutAll();
    this.reception.close();
  }

  #cutAll(): void {
    for (const exchange of this.#running) exchange.cut('cut');
  }

  /** Answers one request. Never rejects for what a caller or an order does. */
  async serve(request: IncomingMessage, response: ServerResponse, expecting: boolean): Promise<void> {
    const exchange = this.#open(request, response);
    if (this.#doomed.has(request.socket)) return exchange.cut('reset');
    try {
      const { status, answer } = await this.#decide(exchange, expecting);
      await reply(exchange, status, answer, this.#region);
      if (exchange.order.connection === 'reset_on_next') this.#doomed.add(request.socket);
    } catch (error) {
      // With the connection gone, by whichever side, whatever waited for it or wrote to it had to fail.
      if (request.socket.destroyed) return;
      exchange.cut('cut');
      throw error;
    }
  }

  #open(request: IncomingMessage, response: ServerResponse): Exchange {
    const arrival = this.reception.arrive(request);
    const closed = new AbortController();
    const api = spokenApi(arrival.path, arrival.header('anthropic-version'));
    const exchange = new Exchange(request, response, arrival, api, closed.signal, this.gates);
    this.#running.add(exchange);
    response.once('close', () => {
      arrival.end(response.writableFinished ? 'completed' : 'aborted');
      this.#running.delete(exchange);
      closed.abort();
    });
    return exchange;
  }

  /** Reads the body, unless the order is to answer without it, and finds the order that applies. */
  async #decide(exchange: Exchange, expecting: boolean): Promise<Decision> {
    const { arrival, request, response } = exchange;
    const { path } = arrival;
    exchange.order = this.#orders.peek({ path, model: undefined });
    const refused = expecting && exchange.order.expectContinue === 'refuse';
    if (refused || exchange.order.early === true) {
      exchange.order = this.#orders.take({ path, model: undefined });
      return refused ? refuse(exchange, 417, 'Expectation failed.') : await decide(exchange, this.#name);
    }
    await exchange.pause('body');
    if (expecting && exchange.order.expectContinue !== 'never') response.writeContinue();
    const body = await readBody(request, MAX_BODY_BYTES);
    if (body === undefined) return refuse(exchange, 413, 'Request exceeds the maximum size.');
    const model = await modelOf(body, arrival.header('content-type'));
    arrival.note({ body, model, stage: 'received' });
    exchange.order = this.#orders.take({ path, model });
    return await decide(exchange, this.#name);
  }
}
