import { z } from 'zod';
import { ZONES } from '../../shared/zones.ts';
import { endpointEntrySchema, environmentName } from '../endpoints/registry.ts';
import { limitsSchema } from '../limits.ts';

const host = z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/, 'must be a host name or address');
const port = z.int().min(0).max(65_535);
const file = z.string().min(1).max(4_096);

/** No message repeats it: a PostgreSQL URL holds a password. */
const store = z
  .string()
  .regex(
    /^(?:sqlite:(?!:)\S.*|postgres(?:ql)?:\/\/\S+)$/,
    'must be sqlite:<file> or postgres://…: records need a disk',
  );

/** The YAML file of one origin. Paths in it are relative to it. */
export const originFileSchema = z.strictObject({
  jurisdiction: z.enum(ZONES),
  listen: z.strictObject({ host, port }),
  /** Admin routes and metrics: a second address, so that no balancer shows them by mistake. */
  admin: z.strictObject({ host, port, token_env: environmentName.exactOptional() }),
  store,
  edge_keys: file,
  signing_key: file,
  /** Name of the zone's log, and first line of its checkpoints (C2SP tlog-checkpoint: no spaces, no plus). */
  log_name: z
    .string()
    .regex(/^[^\s+\p{Cc}]{1,128}$/u, 'must be a name without spaces and "+", as residency.example/eu'),
  endpoints: z.array(endpointEntrySchema).min(1, 'names no endpoint').max(10_000),
  policies: z.array(file).min(1, 'names no policy').max(1_000),
  tenants: file.exactOptional(),
  limits: limitsSchema.prefault({}),
});

export type OriginFile = z.infer<typeof originFileSchema>;
