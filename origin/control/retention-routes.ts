import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { TENANT_ID } from '../../shared/gateway-key.ts';
import type { ReleaseFault } from '../audit/holds.ts';
import type { OriginConfig } from '../config.ts';
import type { Gateway } from '../gateway.ts';
import type { HoldRow } from '../store/retention-table.ts';
import { StoreError } from '../store/store.ts';
import { orderSchema } from './endpoint-orders.ts';
import { orderLimit, readOrder, said } from './order-body.ts';
import { holdView, type PlacedHold, pruneView } from './retention-view.ts';

/** Bytes of an order at most: room for its words, however they are escaped. */
const ORDER_BYTES = 8_192;

/** How far the clocks of the origin and of whoever gives an order may be apart, in ms. */
const APART_MS = 5 * 60_000;

const person = orderSchema.pick({ by: true, why: true });

const time = z.iso
  .datetime({ offset: true, error: 'must be a time in RFC 3339, as 2026-01-31T00:00:00Z' })
  .transform((text) => new Date(text).toISOString());

const pruneSchema = person.extend({
  dry_run: z.boolean().default(false),
  /** What time it is for whoever asks. */
  now: time.exactOptional(),
});

const holdSchema = person
  .extend({
    tenant: z.string().regex(TENANT_ID, 'is not a tenant id').exactOptional(),
    from: time.exactOptional(),
    to: time.exactOptional(),
  })
  .refine(
    ({ tenant, from, to }) => tenant !== undefined || from !== undefined || to !== undefined,
    'name a tenant, a period (from, to), or both',
  )
  .refine(({ from = '', to = '~' }) => from <= to, 'the period ends before it begins');

const FORM = 'Send the order as JSON: {"by": "who", "why": "reason", …}.';
const RUNNING = said('Records are being pruned already. GET /admin/prune shows how far it is.');
const SHUT = said('The log must not go on, so nothing in it is dropped. GET /admin/log says why.');
const CLOCKS = said(
  'The clock of the origin and yours are more than 5 minutes apart. Records are dropped by the clock: set the wrong one right first.',
);

/**
 * `POST /admin/prune` begins to drop what is over and `GET` shows how far it is; `GET` and `POST /admin/holds`,
 * `POST /admin/holds/<id>/release`.
 */
export function retentionRoutes(app: Hono, gateway: Gateway): void {
  const { retention, clock, config } = gateway;
  const limit = orderLimit(ORDER_BYTES);
  app.get('/admin/prune', (c) =>
    retention.run === undefined
      ? c.json(said('Nothing has been pruned since the start of this origin.'), 404)
      : c.json(pruneView(retention.run)),
  );
  app.post('/admin/prune', limit, (c) =>
    ordered(c, pruneSchema, async ({ now, dry_run: dryRun, ...who }) => {
      if (now !== undefined && Math.abs(Date.parse(now) - clock.now()) > APART_MS) return c.json(CLOCKS, 409);
      const begun = retention.prune({ ...who, dryRun });
      if (begun.ok) return c.json(pruneView(begun.value), 202);
      return begun.error === 'running' ? c.json(RUNNING, 409) : c.json(SHUT, 503);
    }),
  );
  app.get('/admin/holds', async (c) => {
    const holds = (await retention.holds()).map(holdView);
    return c.json({ jurisdiction: config.jurisdiction, holds });
  });
  app.post('/admin/holds', limit, (c) =>
    ordered(c, holdSchema, async ({ by, why, ...scope }) =>
      c.json(placed(await retention.place(scope, { by, why }), config), 201),
    ),
  );
  app.post('/admin/holds/:id/release', limit, (c) =>
    ordered(c, person, async (who) => {
      const released = await retention.release(c.req.param('id'), who);
      return released.ok ? c.json(holdView(released.value)) : notReleased(c, released.error);
    }),
  );
}

/** A tenant may have left long ago, but a misspelt one would keep nothing, and nobody would notice. */
const placed = (hold: HoldRow, { tenants }: OriginConfig): PlacedHold => ({
  ...holdView(hold),
  warning:
    hold.tenant === undefined || tenants.has(hold.tenant)
      ? null
      : `no tenant of this origin is called ${hold.tenant} now: if it is misspelt, release the hold and place another`,
});

function notReleased(c: Context, fault: ReleaseFault): Response {
  switch (fault) {
    case 'unknown':
      return c.json(said('No hold has this id. GET /admin/holds lists them.'), 404);
    case 'released':
      return c.json(said('This hold has been released already.'), 409);
  }
}

async function ordered<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  carryOut: (order: z.output<Schema>) => Promise<Response>,
): Promise<Response> {
  const order = await readOrder(c, schema, FORM);
  if (!order.ok) return order.error;
  try {
    return await carryOut(order.value);
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    return c.json(said(`The store did not take it: ${cause.message}`), cause.kind === 'rejected' ? 409 : 503);
  }
}
