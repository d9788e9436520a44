import { z } from 'zod';
import { decodeHash } from '../../shared/base64.ts';
import { receiptLineSchema } from '../../shared/bundle.ts';
import { recordSchema } from '../../shared/record.ts';

const hash = z.string().transform((text, context) => {
  const bytes = decodeHash(text);
  if (bytes !== undefined) return bytes;
  context.addIssue({ code: 'custom', message: 'is not the base64 of 32 bytes' });
  return z.NEVER;
});

const own = { log: z.string(), jurisdiction: z.string() };

/** The answer of `GET /admin/records`; `record` is null where its body is pruned, `leaf` is in base64. */
export const recordPageSchema = z.object({
  ...own,
  records: z.array(z.object({ seq: z.int().nonnegative(), leaf: hash, record: recordSchema.nullable() })),
});

export type LogEntry = z.output<typeof recordPageSchema>['records'][number];

/** The answer of `GET /admin/receipts`; `next` is the last place looked at, null where there is none. */
export const receiptPageSchema = z.object({
  ...own,
  receipts: z.array(receiptLineSchema),
  next: z.int().nonnegative().nullable(),
});

/** A policy version that was in force at some time; `at` is when it was first kept. */
export const keptPolicySchema = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  name: z.string(),
  version: z.string(),
  at: z.iso.datetime({ precision: 3 }),
});

/** The answer of `GET /admin/policies`, in the order of the hashes. */
export const policyPageSchema = z.object({ ...own, policies: z.array(keptPolicySchema) });

export type KeptPolicy = z.infer<typeof keptPolicySchema>;
