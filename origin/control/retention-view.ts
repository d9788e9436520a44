import { z } from 'zod';
import type { PruneRun } from '../audit/retention-run.ts';
import type { HoldRow } from '../store/retention-table.ts';

const time = z.iso.datetime({ precision: 3 });

/** What a run of pruning has dropped, or with `dry_run` would drop, and what stays although its time is over. */
export const pruneViewSchema = z.object({
  id: z.string(),
  state: z.enum(['running', 'done', 'stopped', 'failed']),
  dry_run: z.boolean(),
  by: z.string(),
  why: z.string(),
  started_at: time,
  ended_at: time.nullable(),
  /** Places of the log looked at, of how many that could be over. */
  looked_at: z.int(),
  of: z.int(),
  rules: z.array(
    z.object({
      /** `name@version` of the policy row that the records were kept under. */
      policy: z.string(),
      policy_sha256: z.string(),
      basis: z.enum(['cited', 'in_force', 'longest']),
      days: z.int(),
      records: z.int(),
      oldest: time,
      newest: time,
    }),
  ),
  kept: z.array(z.object({ reason: z.enum(['hold', 'call', 'quarantine', 'unreadable']), records: z.int() })),
  fault: z.string().nullable(),
});

export type PruneView = z.infer<typeof pruneViewSchema>;

export const pruneView = (run: PruneRun): PruneView => ({
  id: run.id,
  state: run.state,
  dry_run: run.order.dryRun,
  by: run.order.by,
  why: run.order.why,
  started_at: run.startedAt,
  ended_at: run.endedAt ?? null,
  looked_at: run.progress.looked,
  of: run.progress.of,
  rules: [...run.tally.rules.values()].map(({ rule, ...line }) => ({
    policy: `${rule.policy}@${rule.version}`,
    policy_sha256: rule.sha256,
    basis: rule.basis,
    days: rule.days,
    ...line,
  })),
  kept: [...run.tally.kept].map(([reason, records]) => ({ reason, records })),
  fault: run.fault ?? null,
});

export const holdViewSchema = z.object({
  id: z.string(),
  tenant: z.string().nullable(),
  /** The period by the time of the records, both ends within it; null where it is open. */
  from: time.nullable(),
  to: time.nullable(),
  by: z.string(),
  why: z.string(),
  at: time,
  released_at: time.nullable(),
  released_by: z.string().nullable(),
});

export type HoldView = z.infer<typeof holdViewSchema>;

export const placedHoldSchema = holdViewSchema.extend({ warning: z.string().nullable() });
export type PlacedHold = z.infer<typeof placedHoldSchema>;

export const holdListSchema = z.object({ jurisdiction: z.string(), holds: z.array(holdViewSchema) });

export const holdView = ({ id, tenant, from, to, by, why, at, ...released }: HoldRow): HoldView => ({
  id,
  tenant: tenant ?? null,
  from: from ?? null,
  to: to ?? null,
  by,
  why,
  at,
  released_at: released.releasedAt ?? null,
  released_by: released.releasedBy ?? null,
});
