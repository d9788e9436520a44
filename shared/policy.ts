import { z } from 'zod';
import { TENANT_ID } from './gateway-key.ts';
import { mixesAlphabets, personKey } from './person.ts';
import { allowSchema, EMPTY, narrowingSchema } from './policy-allow.ts';
import { ZONES } from './zones.ts';

export { type Allow, DEPLOYMENTS, type Deployment, type Narrowing } from './policy-allow.ts';

/**
 * The packs that ship with the product: what a law or a house rule asks of every policy that names it. To add
 * one, add its name here and its file in `origin/policy/packs`.
 */
export const PACK_NAMES = [
  'eu-gdpr-strict',
  'eu-ai-act-high-risk',
  'de-only',
  'us',
  'au',
  'jp',
  'uk',
  'ch',
] as const;
export type PackName = (typeof PACK_NAMES)[number];

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens');

/** Version of a policy or of a pack. */
export const version = z
  .string({ error: 'must be text: put it into quotes, such as "4.2"' })
  .regex(/^[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}$/, 'must be a version such as 4.2.0');
const person = z
  .string()
  .trim()
  .min(1)
  .max(128)
  .refine((name) => personKey(name) !== '', 'shows nothing that could be read as a name')
  .refine((name) => !mixesAlphabets(name), 'mixes letters of several alphabets: write the name in one');
/** Id of an endpoint in the registry. */
export const endpointId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be letters, digits, ".", "_" and "-", 64 at most');

/** Name of a workload, as a caller writes it into `model`. */
export const workloadName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/, 'is not a workload name (letters, digits, . _ : / @ -)');

/** How long records are kept at least, in days. */
export const retentionDays = z
  .int()
  .min(1)
  .max(36_525)
  .meta({ description: 'How long records are kept at least. Left out: for ever.' });

const failoverSchema = z
  .strictObject({
    primary: endpointId.describe('Id of the endpoint that is tried first.'),
    secondary: z.array(endpointId).max(32).default([]).describe('Those tried after it, in this order.'),
    last_resort: endpointId.exactOptional().describe('The one that is tried when all others have failed.'),
    on_exhausted: z
      .literal('fail_closed', { error: 'must be fail_closed: an outage never widens a zone' })
      .default('fail_closed')
      .describe('What happens when none is left: the call is refused. There is no other value.'),
  })
  .describe('Which endpoints serve the workload, in which order; each must be allowed by all the rules.');

const SECONDS_OF_A_DAY = 86_400;

const seconds = z.int().min(1).max(SECONDS_OF_A_DAY);

const healthSchema = z.strictObject({
  probe: z
    .enum(['synthetic_completion', 'none'])
    .default('synthetic_completion')
    .describe('A short completion of the gateway itself, without tenant data; none: only calls tell.'),
  interval_seconds: seconds.default(10).describe('Between two probes of an endpoint.'),
  open_circuit_after: z
    .int()
    .min(1)
    .max(1_000)
    .default(5)
    .describe('Failures in a row after which an endpoint is left out.'),
  half_open_after_seconds: seconds.default(30).describe('How long it is left out before one probe tries it.'),
  max_ttft_ms: z
    .int()
    .min(1)
    .max(600_000)
    .default(4_000)
    .describe('Longest time to the first token, in ms; an endpoint that takes longer is left out too.'),
});

const workloadSchema = z.strictObject({
  class: z.string().min(1).max(64).describe('Kind of model, in words of your own; it goes on record.'),
  pinned: z.boolean().default(true).meta({
    description:
      'false: zone and global deployments may serve this workload, from anywhere they route to. Needs a reason.',
  }),
  reason: z
    .string()
    .max(256)
    .regex(/^(?! )[\p{L}\p{N}\p{P}\p{S} ]+$/u, 'must be 1 to 256 printable characters on one line')
    .exactOptional()
    .meta({ description: 'Why the workload needs no pinning. Stands on the record of every such call.' }),
  failover: failoverSchema,
  health: healthSchema.prefault({}).describe('When an endpoint is left out, and tried again.'),
});

/** What a contract with one tenant takes away from the policy; it can add nothing. */
const exceptionSchema = z.strictObject({
  allow: narrowingSchema.default({}).describe('What is left of the policy for the tenant.'),
  workloads: z
    .array(workloadName)
    .min(1, EMPTY)
    .exactOptional()
    .describe('The only workloads of the tenant. Left out: all of the policy.'),
});

/**
 * The form of a policy document: where the data of its tenants may be processed, and in which order endpoints
 * are tried. What the form alone cannot tell is checked by `checkPolicy`.
 */
export const policySchema = z.strictObject({
  policy: name.describe(
    'Name by which tenants are put under the policy. Receipts carry it with the version.',
  ),
  version: version.describe('Text, such as 4.2.0. A changed document gets a new one.'),
  jurisdiction: z.enum(ZONES).describe('The zone whose tenants it is for. eu is the EEA.'),
  author: person.describe('Who wrote this version.'),
  reviewer: person.describe('Who approved it: another person than the author.'),
  packs: z
    .array(z.enum(PACK_NAMES))
    .max(PACK_NAMES.length)
    .default([])
    .meta({ description: 'What is allowed is what this document and each of these packs allow.' }),
  retention_days: retentionDays.exactOptional(),
  allow: allowSchema.describe('Where an endpoint may stand and what it may serve, for every workload.'),
  workloads: z
    .record(workloadName, workloadSchema)
    .refine((workloads) => Object.keys(workloads).length > 0, 'names no workload')
    .describe('By the name that callers send as "model".'),
  tenants: z
    .record(z.string().regex(TENANT_ID, 'is not a tenant id'), exceptionSchema)
    .default({})
    .describe('Tenants whose contract is narrower. An exception takes away and adds nothing.'),
});

export type Policy = z.infer<typeof policySchema>;
export type Workload = z.infer<typeof workloadSchema>;
export type Failover = z.infer<typeof failoverSchema>;
