import type { Refusal } from '../shared/errors.ts';
import { err, ok, type Result } from '../shared/result.ts';
import { type TenantEntry, tenantEntryKey, tenantEntrySchema } from '../shared/tenant.ts';
import type { Zone } from '../shared/zones.ts';
import type { Denial } from './denial.ts';
import type { Environment } from './environment.ts';
import type { Claim } from './inspect.ts';
import { within } from './limit.ts';

/** Milliseconds that KV may take. A cold read takes tens; a caller can try again sooner than this doubles. */
export const LOOKUP_LIMIT_MS = 1_500;

/** Seconds that a location may serve an entry from its cache. A move of a tenant outwaits it. */
const ENTRY_CACHE_TTL_S = 60;

/** A tenant whose entry agrees with the claim, and may be served on this host now. */
export interface Tenant {
  readonly id: string;
  readonly zone: Zone;
  /** Version of the entry that decided. */
  readonly version: number;
}

/** The claim's tenant, or why it is not served in the claimed zone, from this host, now. `host` without port. */
export async function lookUp(
  claim: Claim,
  host: string,
  environment: Environment,
): Promise<Result<Tenant, Denial>> {
  const entry = await readEntry(claim.tenant, environment);
  const refusal = entry.ok ? refusalOf(entry.value, claim, host, environment) : entry.error;
  if (entry.ok && refusal === undefined) {
    return ok({ id: claim.tenant, zone: entry.value.jurisdiction, version: entry.value.version });
  }
  return err({
    refusal: refusal ?? { code: 'lookup_unavailable' },
    tenant: claim.tenant,
    claimed: claim.jurisdiction,
    zone: entry.ok ? entry.value.jurisdiction : 'not_found',
  });
}

function refusalOf(
  entry: TenantEntry,
  claim: Claim,
  host: string,
  environment: Environment,
): Refusal | undefined {
  if (entry.jurisdiction !== claim.jurisdiction) return { code: 'jurisdiction_mismatch' };
  switch (entry.state) {
    case 'suspended':
      return { code: 'tenant_suspended' };
    case 'moving':
      return { code: 'tenant_moving' };
    case 'active': {
      const zoneHost = environment.zoneHosts[entry.jurisdiction];
      return zoneHost === undefined || zoneHost === host ? undefined : { code: 'wrong_host', host: zoneHost };
    }
  }
}

/** The entry of a tenant, by the form that the contract gives it. What does not parse is no entry at all. */
export async function readEntry(
  tenant: string,
  environment: Environment,
): Promise<Result<TenantEntry, Refusal>> {
  const text = await readText(tenant, environment).catch(() => undefined);
  if (text === null) return err({ code: 'tenant_unknown' });
  const entry = tenantEntrySchema.safeParse(text === undefined ? undefined : jsonOf(text));
  return entry.success ? ok(entry.data) : err({ code: 'lookup_unavailable' });
}

async function readText(tenant: string, environment: Environment): Promise<string | null | undefined> {
  const key = await tenantEntryKey(tenant, environment.pepper);
  const read = environment.tenants.get(key, { type: 'text', cacheTtl: ENTRY_CACHE_TTL_S });
  return await within(read, LOOKUP_LIMIT_MS);
}

function jsonOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return value;
  } catch {
    return undefined;
  }
}
