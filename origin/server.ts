import { createServer, type Server } from 'node:http';
import { getRequestListener, type HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { Hono } from 'hono';
import { REFUSALS_PATH } from '../shared/assertion.ts';
import { MODEL_ROUTES } from '../shared/routes.ts';
import { Call } from './admit/call.ts';
import { answerBrokenRequest } from './broken-request.ts';
import { exchange } from './exchange.ts';
import type { Gateway } from './gateway.ts';
import { listModels, recordRefusal, showReceipts, unknownRoute } from './local-routes.ts';

/** Longer than the 900 s for which Cloudflare keeps an idle connection, so that this side never closes first. */
const KEEP_ALIVE_MS = 905_000;

/** A whole request must have arrived within this, in ms. */
const REQUEST_MS = 300_000;

/** Bytes of headers at which Node's parser gives up; the named limit is far below it. */
const PARSER_HEADER_BYTES = 131_072;

type Handler = (gateway: Gateway, call: Call) => Promise<void>;

export interface OriginServer {
  readonly server: Server;
  /** Calls under way. */
  readonly calls: ReadonlySet<Call>;
}

/** The zone's public address: health, the edge's reports, and the routes of the two APIs. */
export function originServer(gateway: Gateway, ready: () => Promise<boolean>): OriginServer {
  const calls = new Set<Call>();
  const app = new Hono<{ Bindings: HttpBindings }>();
  const on = (method: string, path: string, handler: Handler) =>
    app.on(method, path, async ({ env }) => {
      const call = new Call(
        env.incoming,
        env.outgoing,
        gateway.config.jurisdiction,
        gateway.clock.now(),
        gateway.newId,
      );
      calls.add(call);
      try {
        await handler(gateway, call);
      } catch (cause) {
        gateway.logger.fatal(
          { request_id: call.requestId, fault: cause instanceof Error ? cause.name : 'unknown' },
          'a call broke',
        );
        call.outgoing.destroy();
      } finally {
        calls.delete(call);
      }
      return RESPONSE_ALREADY_SENT;
    });

  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.get('/readyz', async (c) =>
    (await ready()) ? c.json({ status: 'ready' }) : c.json({ status: 'not ready' }, 503),
  );
  on('POST', REFUSALS_PATH, recordRefusal);
  for (const route of MODEL_ROUTES) on(route.method, route.path, (_, call) => exchange(gateway, call, route));
  on('GET', '/v1/models', listModels);
  on('GET', '/v1/models/:model', listModels);
  on('GET', '/v1/receipts/:request_id', showReceipts);
  on('ALL', '*', unknownRoute);

  const listener = getRequestListener(app.fetch, {
    overrideGlobalObjects: false,
    autoCleanupIncoming: false,
  });
  const server = createServer(
    {
      keepAliveTimeout: KEEP_ALIVE_MS,
      headersTimeout: REQUEST_MS,
      requestTimeout: REQUEST_MS,
      maxHeaderSize: PARSER_HEADER_BYTES,
    },
    (incoming, outgoing) => void listener(incoming, outgoing),
  );
  // The body of a caller who asks first is invited only once the call is admitted.
  server.on('checkContinue', (incoming, outgoing) => server.emit('request', incoming, outgoing));
  server.on('clientError', answerBrokenRequest);
  return { server, calls };
}
