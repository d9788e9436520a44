import { z } from 'zod';
import { ZONES } from '../../shared/zones.ts';

const time = z.iso.datetime({ precision: 3 });
const own = { log: z.string(), jurisdiction: z.enum(ZONES) };

/** One checkpoint as `/admin/checkpoints` shows it; `note` has the lines of witnesses too. */
export const checkpointViewSchema = z.object({
  number: z.int().nonnegative(),
  size: z.int().nonnegative(),
  at: time,
  hour: time.nullable(),
  note: z.string(),
});

/** The answers of `GET /admin/checkpoints` and of `POST`. */
export const checkpointPageSchema = z.object({ ...own, checkpoints: z.array(checkpointViewSchema) });
export const newCheckpointSchema = z.object({ ...own, checkpoint: checkpointViewSchema });

/** The answer of `GET /admin/log`, as far as tools need it. */
export const logStateSchema = z.object({
  ...own,
  /** The log's public key, C2SP signed-note. */
  vkey: z.string(),
  sequenced: z.int().nonnegative(),
  witness_quorum: z.int().nonnegative(),
});

/** The answer of `GET /admin/pending`: calls without an end, although they are past their time. */
export const pendingListSchema = z.object({
  ...own,
  deadline_ms: z.number(),
  pending: z.array(
    z.object({
      seq: z.int().nonnegative(),
      id: z.string(),
      request_id: z.string().nullable(),
      tenant: z.string().nullable(),
      endpoint: z.string().nullable(),
      at: time,
      age_ms: z.number(),
    }),
  ),
});
