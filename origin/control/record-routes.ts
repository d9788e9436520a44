import type { Context, Hono } from 'hono';
import { z } from 'zod';
import { encodeBase64 } from '../../shared/base64.ts';
import { decodeRecord } from '../audit/encode.ts';
import { carriesReceipt } from '../audit/receipts.ts';
import type { Gateway } from '../gateway.ts';
import { READ_MAX, type SequencedRow } from '../store/store.ts';

const limit = z.coerce.number().int().min(1).max(READ_MAX).default(50);
/** A place in the log, after which to start. */
const after = z.coerce.number().int().min(-1);

const pageSchema = z.object({ after: after.optional(), limit });
const receiptsSchema = z.object({ after: after.default(-1), limit });
const policiesSchema = z.object({ after: z.string().max(64).default(''), limit });

const NO_POLICY = { error: { message: 'No policy of this hash is kept. GET /admin/policies lists them.' } };

/**
 * What the log holds, for operators and their tools: `GET /admin/records` (without `after` the newest),
 * `/admin/receipts` of the records after a place, signed again, `/admin/policies` and each stream by its hash.
 */
export function recordRoutes(app: Hono, gateway: Gateway): void {
  const { config, log } = gateway;
  const own = { log: config.logName, jurisdiction: config.jurisdiction };
  app.get('/admin/records', (c) =>
    paged(c, pageSchema, async ({ after, limit }) => {
      const rows = await (after === undefined ? log.latest(limit) : log.after(after, limit));
      return { ...own, records: rows.map(entryOf) };
    }),
  );
  app.get('/admin/receipts', (c) =>
    paged(c, receiptsSchema, async ({ after, limit }) => {
      const rows = await log.after(after, limit);
      const receipts = await Promise.all(rows.map((row) => receiptsOf(gateway, row)));
      return { ...own, receipts: receipts.flat(), next: rows.at(-1)?.seq ?? null };
    }),
  );
  app.get('/admin/policies', (c) =>
    paged(c, policiesSchema, async ({ after, limit }) => {
      const rows = await log.policies(after, limit);
      return { ...own, policies: rows.map(({ stream: _, ...row }) => row) };
    }),
  );
  app.get('/admin/policies/:sha256', async (c) => {
    const row = await log.policyOf(c.req.param('sha256'));
    if (row === undefined) return c.json(NO_POLICY, 404);
    return c.body(Uint8Array.from(row.stream), 200, { 'content-type': 'application/yaml' });
  });
}

async function paged<Schema extends z.ZodType>(
  c: Context,
  schema: Schema,
  answer: (page: z.output<Schema>) => Promise<object>,
): Promise<Response> {
  const page = schema.safeParse(c.req.query());
  if (!page.success) return c.json({ error: { message: z.prettifyError(page.error) } }, 400);
  return c.json(await answer(page.data));
}

/** The record is null once its body is pruned. */
const entryOf = ({ seq, leaf, canonical }: SequencedRow): object => ({
  seq,
  leaf: encodeBase64(leaf),
  record: canonical === undefined ? null : JSON.parse(canonical),
});

/** The receipt that went out with a record, if one did. */
async function receiptsOf({ receipts, clock }: Gateway, row: SequencedRow): Promise<object[]> {
  // Most rows of a log carry none, and need not be read for it.
  if (row.canonical === undefined || (row.kind !== 'served' && row.kind !== 'failed')) return [];
  const record = decodeRecord(row);
  if (!carriesReceipt(record)) return [];
  const receipt = await receipts.signAgain(record, row.leaf, clock.now());
  return [{ request_id: record.request_id ?? '', record: record.id, receipt }];
}
