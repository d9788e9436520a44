import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { keyHash } from '../admit/key.ts';
import type { Gateway } from '../gateway.ts';
import { checkpointRoutes } from './checkpoint-routes.ts';
import { endpointRoutes } from './endpoint-routes.ts';
import { gameDayRoutes } from './gameday-routes.ts';
import { levelsOf } from './levels.ts';
import { logRoutes } from './log-routes.ts';
import { recordRoutes } from './record-routes.ts';
import { retentionRoutes } from './retention-routes.ts';

/** The operators' address: the zone's records, its endpoints, and its metrics. Every call needs the admin token. */
export function adminServer(gateway: Gateway): Server {
  const token = gateway.config.admin.token;
  const expected = token === undefined ? undefined : Buffer.from(keyHash(token.reveal()), 'hex');
  const app = new Hono();
  app.get('/healthz', (c) => c.json({ status: 'ok' }));
  app.use('*', async (c, next) => {
    const bearer = /^bearer +(\S+)$/i.exec(c.req.header('authorization') ?? '')?.[1] ?? '';
    const presented = Buffer.from(keyHash(bearer), 'hex');
    if (expected !== undefined && timingSafeEqual(expected, presented)) return next();
    return c.json(
      { error: { message: 'Send "authorization: Bearer" with the admin token of this origin.' } },
      401,
    );
  });
  recordRoutes(app, gateway);
  endpointRoutes(app, gateway);
  gameDayRoutes(app, gateway);
  logRoutes(app, gateway);
  checkpointRoutes(app, gateway);
  retentionRoutes(app, gateway);
  app.get('/metrics', async (c) => {
    const { metrics } = gateway;
    const text = await metrics.text(await levelsOf(gateway));
    return c.text(text, 200, { 'content-type': metrics.contentType });
  });
  app.onError((cause, c) => {
    // By name alone: nothing says what else a cause quotes.
    gateway.logger.error({ fault: cause.name }, 'an admin call failed');
    return c.json({ error: { message: 'This could not be answered just now. Try again.' } }, 503);
  });
  app.notFound((c) => c.json({ error: { message: 'There is no such admin route.' } }, 404));
  const listener = getRequestListener(app.fetch, { overrideGlobalObjects: false });
  return createServer((incoming, outgoing) => void listener(incoming, outgoing));
}
