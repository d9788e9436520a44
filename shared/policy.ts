import { z } from 'zod';
import { TENANT_ID } from './gateway-key.ts';
import { REGION_SOURCES } from './record.ts';
import { ZONES } from './zones.ts';

/**
 * How an endpoint uses the regions of its provider: only the one it names, any of its zone, or any at all.
 * What is not `regional` runs where the provider likes, whatever its host name says.
 */
export const DEPLOYMENTS = ['regional', 'zone', 'global'] as const;
export type Deployment = (typeof DEPLOYMENTS)[number];

const name = z.string().regex(/^[a-z0-9][a-z0-9-]{0,62}$/, 'must be lower-case letters, digits and hyphens');
const version = z
  .string({ error: 'must be text: put it into quotes, such as "4.2"' })
  .regex(/^[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}$/, 'must be a version such as 4.2.0');
const person = z.string().trim().min(1).max(128);
const country = z.string().regex(/^(?:[A-Z]{2}|EEA)$/, 'must be an ISO 3166 code such as DE, or EU or EEA');
const region = z.string().regex(/^[a-z0-9][a-z0-9-]{0,63}$/, 'must be a region name such as eu-central-1');
const model = z.string().min(1).max(256);

/** Id of an endpoint in the registry. */
export const endpointId = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be letters, digits, ".", "_" and "-", 64 at most');

/** Name of a workload, as a caller writes it into `model`. */
export const workloadName = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,127}$/, 'is not a workload name (letters, digits, . _ : / @ -)');

/** Each list narrows where it is not empty; of countries at least one must be named. */
const allowSchema = z.strictObject({
  countries: z.array(country).min(1),
  regions: z.array(region).default([]),
  deployments: z.array(z.enum(DEPLOYMENTS)).min(1).default(['regional']),
  /** Dated ids of the models approved for use, as the endpoints know them. */
  models: z.array(model).default([]),
  /** The weakest grade of evidence of the serving region that will do. */
  region_evidence: z.enum(REGION_SOURCES).default('declared'),
});

const failoverSchema = z.strictObject({
  primary: endpointId,
  secondary: z.array(endpointId).max(32).default([]),
  last_resort: endpointId.exactOptional(),
  on_exhausted: z
    .literal('fail_closed', { error: 'must be fail_closed: an outage never widens a zone' })
    .default('fail_closed'),
});

const SECONDS_OF_A_DAY = 86_400;

const healthSchema = z.strictObject({
  probe: z.enum(['synthetic_completion', 'none']).default('synthetic_completion'),
  interval_seconds: z.int().min(1).max(SECONDS_OF_A_DAY).default(10),
  /** Consecutive failures. */
  open_circuit_after: z.int().min(1).max(1_000).default(5),
  half_open_after_seconds: z.int().min(1).max(SECONDS_OF_A_DAY).default(30),
  max_ttft_ms: z.int().min(1).max(600_000).default(4_000),
});

const workloadSchema = z.strictObject({
  class: z.string().min(1).max(64),
  failover: failoverSchema,
  health: healthSchema.prefault({}),
});

/** What a contract with one tenant takes away from the policy; it can add nothing. */
const exceptionSchema = z.strictObject({
  allow: z
    .strictObject({
      countries: z.array(country).min(1).exactOptional(),
      regions: z.array(region).exactOptional(),
      deployments: z.array(z.enum(DEPLOYMENTS)).min(1).exactOptional(),
      models: z.array(model).exactOptional(),
      region_evidence: z.enum(REGION_SOURCES).exactOptional(),
    })
    .default({}),
  workloads: z.array(workloadName).exactOptional(),
});

/**
 * The form of a policy document: where the data of its tenants may be processed, and in which order endpoints
 * are tried. What the form alone cannot tell is checked by `checkPolicy`.
 */
export const policySchema = z.strictObject({
  policy: name,
  version,
  jurisdiction: z.enum(ZONES),
  author: person,
  reviewer: person,
  /** How long records are kept at least; without it they are kept for ever. */
  retention_days: z.int().min(1).max(36_525).exactOptional(),
  allow: allowSchema,
  workloads: z
    .record(workloadName, workloadSchema)
    .refine((workloads) => Object.keys(workloads).length > 0, 'names no workload'),
  tenants: z.record(z.string().regex(TENANT_ID, 'is not a tenant id'), exceptionSchema).default({}),
});

export type Policy = z.infer<typeof policySchema>;
export type Allow = Policy['allow'];
/** The narrowing lists of a tenant exception; what it does not name stays as the policy has it. */
export type Narrowing = Policy['tenants'][string]['allow'];
export type Failover = z.infer<typeof failoverSchema>;
