import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Api } from '../../../shared/routes.ts';
import type { Gates, PausePoint } from './gates.ts';
import type { Order } from './order.ts';
import type { Arrival } from './received.ts';

/** One request and its answer under way. */
export class Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly arrival: Arrival;
  readonly api: Api;
  /** Fires when the exchange is over, however it ended. */
  readonly signal: AbortSignal;
  readonly #gates: Gates;
  order: Order = {};

  constructor(
    request: IncomingMessage,
    response: ServerResponse,
    arrival: Arrival,
    api: Api,
    signal: AbortSignal,
    gates: Gates,
  ) {
    this.request = request;
    this.response = response;
    this.arrival = arrival;
    this.api = api;
    this.signal = signal;
    this.#gates = gates;
  }

  /** Waits at a point as the order says: first at its gate, then for its delay. */
  async pause(point: PausePoint): Promise<void> {
    const { gate, delay } = this.order;
    const gated = gate === point || (Array.isArray(gate) && gate.includes(point));
    const shut = gated && !this.#gates.enter(point);
    const milliseconds = delay?.[point] ?? 0;
    if (!shut && milliseconds === 0) return;
    this.arrival.note({ heldAt: point });
    if (shut) await this.#gates.wait(point, this.signal);
    if (milliseconds > 0) await setTimeout(milliseconds, undefined, { signal: this.signal });
    this.arrival.note({ heldAt: undefined });
  }

  /** Says nothing more and leaves the connection open, until the caller hangs up or a reset. */
  async silence(): Promise<never> {
    const { promise, reject } = Promise.withResolvers<never>();
    this.signal.addEventListener('abort', () => reject(this.signal.reason), { once: true });
    this.signal.throwIfAborted();
    return await promise;
  }

  /** Breaks the connection off from this side. */
  cut(how: 'cut' | 'reset'): void {
    this.arrival.end('cut');
    if (how === 'reset') this.request.socket.resetAndDestroy();
    else this.request.socket.destroy();
  }
}
