import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { listen, portOf } from '../listening.ts';
import { CONTROL_PREFIX, control } from './provider/control.ts';
import { Desk } from './provider/desk.ts';
import type { PausePoint } from './provider/gates.ts';
import type { RegionReport } from './provider/head.ts';
import type { OrderInput, OrderOptions } from './provider/order.ts';
import type { Received } from './provider/received.ts';
import type { WaitOptions } from './provider/reception.ts';

export type { OrderInput, OrderOptions, PausePoint, Received, RegionReport, WaitOptions };

/** Connections accepted at once. */
const MAX_CONNECTIONS = 10_000;

/** Milliseconds that an idle connection is kept: longer than any test, so that only orders close one. */
const KEEP_ALIVE_MS = 120_000;

export interface ProviderOptions {
  /** 0, or left out, takes any free port. */
  readonly port?: number;
  readonly host?: '127.0.0.1';
  /** Named in each answer, so that a caller can see who gave it. */
  readonly name?: string;
  /** A header on each answer that says where it ran. */
  readonly region?: RegionReport;
}

/** A model provider that does as it is told, stands on loopback and writes nothing to disk. */
export interface Provider {
  /** Without a path: base URLs such as `/v1` or `/openai/v1` are the caller's choice. */
  readonly url: string;
  readonly port: number;
  /** What reached it, oldest first; the newest 10,000 are kept. */
  readonly received: readonly Received[];
  /** How many requests reached it since the start or the last reset. */
  readonly receivedTotal: number;
  readonly openConnections: number;
  /**
   * Sets the behaviour for requests that match: for `times` of them, in the order given, or without `times`
   * until another standing order takes its place. Throws a ZodError on what is no order, and a RangeError
   * when too many wait. Shuts the gates that the order names.
   */
  order(order: OrderInput, options?: OrderOptions): void;
  /** Lets `times` waiting or later requests through a gate; all of them when left out. */
  release(point: PausePoint, times?: number): void;
  /**
   * The first request that fits, now or as soon as there is one; asked again with each change of a request,
   * so that "held at a gate" or "aborted" can be waited for. Rejects after a limit (10 s).
   */
  waitFor(wanted: (request: Received) => boolean, options?: WaitOptions): Promise<Received>;
  /** Closes connections that no request uses, as a provider does when they have been idle. */
  closeIdleConnections(): void;
  /** Forgets orders, gates and requests, and cuts what is still being answered. */
  reset(): void;
  close(): Promise<void>;
}

/** Starts a provider on loopback. Rejects when the port is taken. */
export async function startProvider(options: ProviderOptions = {}): Promise<Provider> {
  const desk = new Desk(options.name ?? 'provider', options.region);
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_MS });
  server.maxConnections = MAX_CONNECTIONS;
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await listen(server, { host: options.host ?? '127.0.0.1', port: options.port ?? 0 });
  const port = portOf(server);

  const provider: Provider = {
    url: `http://127.0.0.1:${port}`,
    port,
    get received() {
      return desk.reception.list;
    },
    get receivedTotal() {
      return desk.reception.total;
    },
    get openConnections() {
      return sockets.size;
    },
    order: (order, orderOptions = {}) => desk.order(order, orderOptions),
    release: (point, times = Number.POSITIVE_INFINITY) => desk.gates.release(point, times),
    waitFor: (wanted, waitOptions) => desk.reception.waitFor(wanted, waitOptions),
    closeIdleConnections: () => server.closeIdleConnections(),
    reset: () => desk.reset(),
    close: async () => {
      desk.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
  const receive = (request: IncomingMessage, response: ServerResponse, expecting: boolean) => {
    const controls = request.url?.startsWith(CONTROL_PREFIX) === true;
    const answered = controls
      ? control(provider, request, response)
      : desk.serve(request, response, expecting);
    // The error could quote a prompt, so it is not printed; its caller sees the connection break.
    answered.catch(() => request.socket.destroy());
  };
  server.on('request', (request, response) => receive(request, response, false));
  server.on('checkContinue', (request, response) => receive(request, response, true));
  return provider;
}
