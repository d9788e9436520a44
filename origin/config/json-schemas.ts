import { z } from 'zod';
import { packSchema } from '../../shared/pack.ts';
import { policySchema } from '../../shared/policy.ts';
import { tenantsFileSchema } from '../policy/tenants.ts';
import { originFileSchema } from './schema.ts';

/** A document as people write it, before its defaults are filled in. */
const written = (title: string, schema: z.ZodType) => ({
  ...z.toJSONSchema(schema, { io: 'input', target: 'draft-2020-12' }),
  title,
});

/**
 * JSON Schemas (draft 2020-12) of the files that people write, by their name in `docs/schemas`, so that editors
 * help. They tell the form only: the rest is told by `residency check`.
 */
export const JSON_SCHEMAS = {
  policy: written('Policy document', policySchema),
  pack: written('Policy pack', packSchema),
  origin: written('Configuration of one origin', originFileSchema),
  tenants: written('Declared tenants of one origin', tenantsFileSchema),
} as const;
