import { z } from 'zod';
import { RECORD_KINDS } from '../../shared/record.ts';
import { type CircuitRow, type SequencedRow, StoreError } from './store.ts';

const optionalText = z
  .string()
  .nullable()
  .transform((text) => text ?? undefined);

const rowSchema = z.object({
  seq: z.number().int(),
  id: z.string(),
  kind: z.enum(RECORD_KINDS),
  at: z.string(),
  request_id: optionalText,
  pending_id: optionalText,
  tenant: optionalText,
  canonical: z.string(),
  leaf: z.instanceof(Uint8Array),
});

/** A row of the table `records`, from its columns. Throws StoreError where somebody put something else there. */
export function sequencedRow(columns: object): SequencedRow {
  const row = rowSchema.safeParse(columns);
  if (!row.success)
    throw new StoreError('failed', 'the log holds a row that is not a record. Restore the database.');
  const { request_id, pending_id, ...rest } = row.data;
  return { ...rest, requestId: request_id, pendingId: pending_id };
}

const circuitSchema = z.object({ endpoint: z.string(), state: z.string(), at: z.string() });

/** A row of the table `circuits`, from its columns. Throws StoreError where it is none. */
export function circuitRow(columns: object): CircuitRow {
  const row = circuitSchema.safeParse(columns);
  if (row.success) return row.data;
  throw new StoreError('failed', 'the store holds a row that is not a circuit. Restore the database.');
}
