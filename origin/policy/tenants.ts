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
  /** The team's region lock; left out where the team has none, as an empty lock would let nothing through. */
  allowed_regions: z
    .array(region)
    .min(1, 'is empty and would lock the team out of every region: leave it out for no lock')
    .exactOptional(),
  workloads: z.array(workloadName).exactOptional(),
});

const keySchema = z.strictObject({
  id: label,
  team: label.exactOptional(),
  /** SHA-256 of the whole gateway key, hex. The key itself is stored nowhere. */
  sha256: z
    .string({ error: 'must be text: put it into quotes' })
    .regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of the key, 64 lower-case hex digits')
    .regex(/[^0]/, 'is a placeholder: "residency keygen --tenant ID" prints a key and the hash to put here'),
  revoked: z.boolean().exactOptional(),
});

const tenantSchema = z.strictObject({
  jurisdiction: z.enum(ZONES),
  policy: z.string().min(1).max(64),
  state: z.enum(['active', 'moving', 'suspended']).exactOptional(),
  teams: z.record(label, teamSchema).default({}),
  keys: z.array(keySchema).default([]),
});

/** The tenants that an origin's configuration declares. */
export const tenantsFileSchema = z.strictObject({
  tenants: z.record(z.string().regex(TENANT_ID, 'is not a tenant id'), tenantSchema),
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
