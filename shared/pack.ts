import { z } from 'zod';
import { PACK_NAMES, retentionDays, version } from './policy.ts';
import { narrowingSchema } from './policy-allow.ts';
import { ZONES } from './zones.ts';

const flag = (description: string) => z.boolean().default(false).meta({ description });

/**
 * The form of a pack: what a law or a house rule asks of every policy that names it. A pack only takes away.
 * It names no endpoint and no workload, so that the same file holds for everyone.
 */
export const packSchema = z.strictObject({
  pack: z.enum(PACK_NAMES),
  version,
  jurisdiction: z.enum(ZONES),
  summary: z.string().min(1).max(256).meta({ description: 'One sentence for the person who signs.' }),
  retention_days: retentionDays.exactOptional(),
  allow: narrowingSchema.default({}),
  require_approved_models: flag('The policy must list the models approved for use; no other may serve.'),
  require_model_parity: flag('All endpoints of a workload must serve the same dated model.'),
  forbid_unpinned: flag('No workload may be left unpinned.'),
});

export type Pack = z.infer<typeof packSchema>;

/** A pack as people write it: `de-only@1.0.0`. */
export const packLabel = ({ pack, version }: Pack): string => `${pack}@${version}`;
