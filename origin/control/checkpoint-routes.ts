import type { Hono } from 'hono';
import { z } from 'zod';
import { formatVkey, verifierKey } from '../../shared/verifier-key.ts';
import { cosignedNote } from '../audit/cosigned.ts';
import { overduePendings, pendingDeadlineMs } from '../audit/overdue.ts';
import type { Gateway } from '../gateway.ts';
import { READ_MAX, type StoreReader } from '../store/store.ts';
import type { CheckpointRow } from '../store/tree-table.ts';

const time = z.iso
  .datetime({ offset: true, error: 'must be a time in RFC 3339, as 2026-01-31T00:00:00Z' })
  .transform((text) => new Date(text).toISOString());

const pageSchema = z.object({
  /** Number of the checkpoint after which to start. */
  after: z.coerce.number().int().min(-1).optional(),
  limit: z.coerce.number().int().min(1).max(READ_MAX).default(READ_MAX),
  from: time.optional(),
  to: time.optional(),
});

type Page = z.infer<typeof pageSchema>;

/**
 * What of the log is published, for operators and their tools: `GET /admin/log` its states, `/admin/checkpoints`
 * with each signed note, by number or by time, and a new one by POST; `GET /admin/pending` the calls without end.
 */
export function checkpointRoutes(app: Hono, gateway: Gateway): void {
  const { config, log, publisher, clock } = gateway;
  const own = { log: config.logName, jurisdiction: config.jurisdiction };
  app.get('/admin/log', async (c) => {
    const { sequenced, published, witnessed, publishedAt } = await publisher.published.states();
    const vkey = formatVkey(verifierKey(config.logName, 'ed25519', config.signingKey.privateKey));
    const witnesses = config.witnesses.map(({ key, url }) => ({ name: key.name, url: url.href }));
    return c.json({
      ...{ ...own, vkey, sequenced, published, witnessed, published_at: publishedAt ?? null },
      ...{ witnesses, witness_quorum: config.witnessQuorum, broken: publisher.broken ?? null },
    });
  });
  app.get('/admin/checkpoints', async (c) => {
    const page = pageSchema.safeParse(c.req.query());
    if (!page.success) return c.json({ error: { message: z.prettifyError(page.error) } }, 400);
    return c.json({ ...own, checkpoints: (await pageOf(log, page.data)).map(viewOf) });
  });
  app.post('/admin/checkpoints', async (c) => {
    if (publisher.broken !== undefined) return c.json({ error: { message: publisher.broken } }, 503);
    return c.json({ ...own, checkpoint: viewOf(await publisher.publish()) });
  });
  app.get('/admin/pending', async (c) => {
    const deadline_ms = pendingDeadlineMs(config.limits);
    return c.json({ ...own, deadline_ms, pending: await overduePendings(log, clock, deadline_ms) });
  });
}

/**
 * The checkpoints of a window of time: from the last one signed at its begin or before, on which the first record
 * of the window follows, to the first one signed at its end or after, which covers the last.
 */
async function pageOf(log: StoreReader, { after, limit, from, to }: Page): Promise<readonly CheckpointRow[]> {
  const begin = from === undefined ? undefined : await log.checkpointBefore(from);
  const end = to === undefined ? undefined : await log.checkpointFrom(to);
  const rows = await log.checkpoints(after ?? (begin === undefined ? -1 : begin.number - 1), limit);
  return end === undefined ? rows : rows.filter(({ number }) => number <= end.number);
}

const viewOf = (checkpoint: CheckpointRow) => ({
  number: checkpoint.number,
  size: checkpoint.size,
  at: checkpoint.at,
  hour: checkpoint.hour ?? null,
  note: cosignedNote(checkpoint),
});
