import { z } from 'zod';
import { regionName } from '../../shared/catalogue.ts';
import { TENANT_ID } from '../../shared/gateway-key.ts';
import { workloadName } from '../../shared/policy.ts';
import { ZONES } from '../../shared/zones.ts';

const label = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be letters, digits, ".", "_" and "-"');

/** A region name in any spelling, as its one spelling. */
const region = z.string().transform((text, context) => {
  const name = regionName(text);
  if (name !== undefined) return name;
  context.addIssue({ code: 'custom', message: 'is not a region name' });
  return z.NEVER;
});

const teamSchema = z.strictObject({
  allowed_regions: z
    .array(region)
    .min(1, 'is empty and would lock the team out of every region: leave it out for no lock')
    .exactOptional()
    .describe("The team's region lock: the only regions that serve it. Left out: no lock beyond the policy."),
  workloads: z
    .array(workloadName)
    .exactOptional()
    .describe('The only workloads of the team. Left out: all of the policy.'),
});

const keySchema = z.strictObject({
  id: label.describe('Name of the key in records.'),
  team: label.exactOptional().describe('Team whose lock and workloads hold for calls with this key.'),
  /** The key itself is stored nowhere. */
  sha256: z
    .string({ error: 'must be text: put it into quotes' })
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key, 64 lower-case hex digits')
    .describe('SHA-256 of the whole gateway key, hex: "residency keygen --tenant ID" prints both.'),
  revoked: z.boolean().exactOptional().describe('true: calls with this key are refused.'),
});

const tenantSchema = z.strictObject({
  jurisdiction: z.enum(ZONES).describe('The zone in which the calls of the tenant are served.'),
  policy: z.string().min(1).max(64).describe('Name of the policy that holds for it.'),
  state: z
    .enum(['active', 'moving', 'suspended'])
    .exactOptional()
    .describe('moving and suspended: its calls are refused. Left out: active.'),
  teams: z.record(label, teamSchema).default({}).describe('Teams whose calls are narrowed further.'),
  keys: z.array(keySchema).default([]).describe('Its gateway keys, by their hashes.'),
});

/** The tenants that an origin's configuration declares. */
export const tenantsFileSchema = z.strictObject({
  tenants: z
    .record(z.string().regex(TENANT_ID, 'is not a tenant id'), tenantSchema)
    .describe('By their ids, which are a part of their gateway keys.'),
});

export type TenantsFile = z.infer<typeof tenantsFileSchema>;

/** A tenant as its zone's origin knows it. Look teams up with `teamOf`: the names are not the program's own. */
export type TenantRecord = Readonly<TenantsFile['tenants'][string]> & { readonly id: string };

export type Team = Readonly<z.infer<typeof teamSchema>> & { readonly name: string };

/** The team of that name, or undefined where the tenant has none. */
export function teamOf(tenant: TenantRecord, name: string): Team | undefined {
  const team = Object.hasOwn(tenant.teams, name) ? tenant.teams[name] : undefined;
  return team && { name, ...team };
}
