import { z } from 'zod';
import { RECORD_KINDS } from '../../shared/record.ts';
import type { PruningRow } from './log-inspector.ts';
import type { PolicyRow } from './policy-table.ts';
import type { HoldRow } from './retention-table.ts';
import { type CircuitRow, type SequencedRow, StoreError } from './store.ts';
import type { CheckpointRow } from './tree-table.ts';

const optionalText = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined);
const place = z.number().int().nonnegative();
const bytes = z.instanceof(Uint8Array);

/** Makes a row of its columns. What it gives throws StoreError where somebody put something else there. */
function reader<T>(schema: z.ZodType<T>, what: string): (columns: object) => T {
  return (columns) => {
    const row = schema.safeParse(columns);
    if (row.success) return row.data;
    throw new StoreError('failed', `the store holds a row that is not ${what}. Restore the database.`);
  };
}

export const sequencedRow = reader<SequencedRow>(
  z
    .object({
      seq: place,
      id: z.string(),
      kind: z.enum(RECORD_KINDS),
      at: z.string(),
      request_id: optionalText,
      pending_id: optionalText,
      tenant: optionalText,
      canonical: optionalText,
      leaf: bytes,
    })
    .transform(({ request_id, pending_id, ...rest }) => ({
      ...rest,
      requestId: request_id,
      pendingId: pending_id,
    })),
  'a record',
);

export const circuitRow = reader<CircuitRow>(
  z.object({ endpoint: z.string(), state: z.string(), at: z.string() }),
  'a circuit',
);

export const checkpointRow = reader<CheckpointRow>(
  z.object({
    number: place,
    size: place,
    root: bytes,
    at: z.string(),
    hour: optionalText,
    note: z.string(),
    cosignatures: z
      .string()
      .transform((text): unknown => JSON.parse(text))
      .pipe(z.array(z.string())),
  }),
  'a checkpoint',
);

export const policyRow = reader<PolicyRow>(
  z.object({ sha256: z.string(), name: z.string(), version: z.string(), stream: bytes, at: z.string() }),
  'a policy',
);

export const holdRow = reader<HoldRow>(
  z
    .object({
      id: z.string(),
      tenant: z.string().nullable(),
      from_at: z.string().nullable(),
      to_at: z.string().nullable(),
      by: z.string(),
      why: z.string(),
      at: z.string(),
      released_at: z.string().nullable(),
      released_by: z.string().nullable(),
    })
    .transform(({ tenant, from_at, to_at, released_at, released_by, ...rest }) => ({
      ...rest,
      ...(tenant !== null && { tenant }),
      ...(from_at !== null && { from: from_at }),
      ...(to_at !== null && { to: to_at }),
      ...(released_at !== null && { releasedAt: released_at }),
      ...(released_by !== null && { releasedBy: released_by }),
    })),
  'a hold',
);

/** How many rows the log has. */
export const pruningRow = reader<PruningRow>(
  z.object({ first: place, last: place, control: z.string() }),
  'a pruning',
);

export const findingOf = reader(
  z.object({ finding: z.string() }).transform(({ finding }) => finding),
  'a finding',
);

export const sizeOf = reader(
  z.object({ size: place }).transform(({ size }) => size),
  'a size',
);

/** Hashes behind one another. */
export const joinedOf = reader(
  z.object({ joined: bytes }).transform(({ joined }) => joined),
  'hashes',
);
