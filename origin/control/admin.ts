import { timingSafeEqual } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { Hono } from 'hono';
import { z } from 'zod';
import { keyHash } from '../admit/key.ts';
import type { Gateway } from '../gateway.ts';
import { READ_MAX, type SequencedRow } from '../store/store.ts';
import { endpointRoutes } from './endpoint-routes.ts';

const pageSchema = z.object({
  /** Place in the log after which to start; without it, the newest records. */
  after: z.coerce.number().int().min(-1).optional(),
  limit: z.coerce.number().int().min(1).max(READ_MAX).default(50),
});

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
  app.get('/admin/records', async (c) => {
    const page = pageSchema.safeParse(c.req.query());
    if (!page.success) return c.json({ error: { message: z.prettifyError(page.error) } }, 400);
    const { after, limit } = page.data;
    const rows = await (after === undefined ? gateway.log.latest(limit) : gateway.log.after(after, limit));
    return c.json({ jurisdiction: gateway.config.jurisdiction, records: rows.map(recordOf) });
  });
  endpointRoutes(app, gateway);
  app.get('/metrics', async (c) => {
    const { metrics, health, ledger, underWay, config } = gateway;
    const circuits = health.orders.list(config.registry.keys());
    const text = await metrics.text({ circuits, ledger: ledger.stats(), callsUnderWay: underWay.calls });
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

const recordOf = ({ seq, canonical }: SequencedRow): object => ({ seq, record: JSON.parse(canonical) });
