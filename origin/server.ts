import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { REFUSALS_PATH } from '../shared/assertion.ts';
import { HEADER } from '../shared/headers.ts';
import { MODEL_ROUTES, pathOf } from '../shared/routes.ts';
import { Call } from './admit/call.ts';
import { answerBrokenRequest, brokenAnswer, PARSER_HEADER_BYTES } from './broken-request.ts';
import { exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { stopListening } from './listening.ts';
import { listModels, recordRefusal, unknownRoute } from './local-routes.ts';
import { showReceipts } from './receipts-route.ts';
import { letRunOff } from './reply.ts';

/** Longer than the 900 s for which Cloudflare keeps an idle connection, so that this side never closes first. */
const KEEP_ALIVE_MS = 905_000;

/** The head of a request must have arrived within this, in ms; how often that is looked at. */
const HEAD_MS = 15_000;
const CHECK_MS = 5_000;

/** Connections that are kept, for each call that may be under way. */
const CONNECTIONS_FOR_EACH_CALL = 10;

/** A whole request must have arrived within this, in ms. */
const REQUEST_MS = 300_000;

type Handler = (gateway: Gateway, call: Call) => Promise<void>;

/** How long calls that were cut short may take to write their ends, in ms. */
const CUT_MS = 2_000;

export interface OriginServer {
  readonly server: Server;
  /**
   * Takes no new connections, lets the calls under way end within `drain_ms`, and then cuts them short; each
   * has its end on record, or has been handed to the ledger, when this resolves.
   */
  drain(): Promise<void>;
}

/** The zone's public address: health, the edge's reports, and the routes of the two APIs. */
export function originServer(gateway: Gateway, canServe: () => Promise<boolean>): OriginServer {
  const { clock, config } = gateway;
  const calls = new Set<Call>();
  let emptied = Promise.withResolvers<void>();
  let draining = false;
  // Routes match the path as it was sent, which is what assertions and records go by; nothing is decoded.
  const app = new Hono<{ Bindings: HttpBindings }>({
    getPath: (_, options) => pathOf(options?.env?.incoming.url ?? '/'),
  });
  const on = (method: string, path: string, handler: Handler) =>
    app.on(method, path, async ({ env: { incoming, outgoing } }) => {
      const call = new Call(incoming, outgoing, config.jurisdiction, clock.now(), gateway.newId);
      calls.add(call);
      // What still arrives on a connection from before is served, and sent elsewhere the next time.
      if (draining) outgoing.shouldKeepAlive = false;
      try {
        await handler(gateway, call);
      } catch (cause) {
        const fault = cause instanceof Error ? cause.name : 'unknown';
        gateway.logger.fatal({ request_id: call.requestId, fault }, 'a call broke');
        call.stop('gateway');
        outgoing.destroy();
      } finally {
        gateway.metrics.counts.ended(call, clock.now());
        letRunOff(incoming, clock);
        calls.delete(call);
        if (calls.size === 0) emptied.resolve();
      }
      return RESPONSE_ALREADY_SENT;
    });

  app.use(async (c, next) => {
    c.header(HEADER.requestId, gateway.newId());
    await next();
  });
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) =>
    !draining && (await canServe()) ? c.json({ status: 'ready' }) : c.json({ status: 'not ready' }, 503),
  );
  on('POST', REFUSALS_PATH, recordRefusal);
  for (const route of MODEL_ROUTES) on(route.method, route.path, (_, call) => exchange(gateway, call, route));
  on('GET', '/v1/models', listModels);
  on('GET', '/v1/models/:model', listModels);
  on('GET', '/v1/receipts/:request_id', showReceipts);
  on('ALL', '*', unknownRoute);

  const zone = config.jurisdiction;
  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
    errorHandler: () => {
      const { status, head, body } = brokenAnswer(zone);
      return new Response(body, { status, headers: head });
    },
  });
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: HEAD_MS,
      connectionsCheckingInterval: CHECK_MS,
      requestTimeout: REQUEST_MS,
      maxHeaderSize: PARSER_HEADER_BYTES,
      // One that has none is answered here, as every other broken request is.
      requireHostHeader: false,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  // The body of a caller who asks first is invited only once the call is admitted.
  server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  // Any other expectation is no reason to answer differently from any other request.
  server.on('checkExpectation', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  server.on('clientError', (fault, socket) => answerBrokenRequest(zone, fault, socket));
  server.on('connect', (_, socket) => answerBrokenRequest(zone, new Error('no tunnels'), socket));
  server.maxConnections = CONNECTIONS_FOR_EACH_CALL * config.limits.concurrent_requests;
  return { server, drain };

  async function drain(): Promise<void> {
    draining = true;
    const closed = stopListening(server);
    for (const call of calls) call.outgoing.shouldKeepAlive = false;
    await noneLeft(config.limits.drain_ms);
    for (const call of calls) call.stop('gateway');
    await noneLeft(CUT_MS);
    server.closeAllConnections();
    await closed;
  }

  async function noneLeft(withinMs: number): Promise<void> {
    if (calls.size === 0) return;
    emptied = Promise.withResolvers();
    const cancel = clock.setTimeout(emptied.resolve, withinMs);
    await emptied.promise;
    cancel();
  }
}
