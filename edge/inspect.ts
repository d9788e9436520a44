import type { Refusal } from '../shared/errors.ts';
import { presentedKey, TENANT_ID, tenantsOfKeys } from '../shared/gateway-key.ts';
import { HEADER } from '../shared/headers.ts';
import { err, ok, type Result } from '../shared/result.ts';
import { isZone, type Zone } from '../shared/zones.ts';
import type { Denial } from './denial.ts';

/** Who a request says it is for, and where: checked for form and against itself, and for nothing else. */
export interface Claim {
  readonly jurisdiction: Zone;
  readonly tenant: string;
}

type HeaderReader = (name: string) => string | null;

/** The claim that a request's headers make, or why they make none. Nothing is defaulted, folded or guessed. */
export function inspect(get: HeaderReader): Result<Claim, Denial> {
  const jurisdiction = claimedJurisdiction(get);
  const headerTenant = tenantOfHeader(get);
  const tenant = namedTenant(headerTenant, tenantsOfKeys(get));
  const deny = (refusal: Refusal): Result<Claim, Denial> =>
    err({
      refusal,
      tenant: tenant.ok ? tenant.value : headerTenant.ok ? headerTenant.value : undefined,
      claimed: jurisdiction.ok ? jurisdiction.value : undefined,
      zone: 'not_looked_up',
    });
  if (!jurisdiction.ok) return deny(jurisdiction.error);
  if (presentedKey(get).kind === 'none') return deny({ code: 'key_missing' });
  if (!tenant.ok) return deny(tenant.error);
  return ok({ jurisdiction: jurisdiction.value, tenant: tenant.value });
}

function claimedJurisdiction(get: HeaderReader): Result<Zone, Refusal> {
  const [tag, ...others] = distinctValues(get(HEADER.jurisdiction) ?? '');
  if (others.length > 0) return err({ code: 'jurisdiction_ambiguous' });
  if (tag === undefined || tag === '') return err({ code: 'jurisdiction_missing' });
  return isZone(tag) ? ok(tag) : err({ code: 'jurisdiction_unknown' });
}

function tenantOfHeader(get: HeaderReader): Result<string | undefined, Refusal> {
  const header = get(HEADER.tenant);
  if (header === null) return ok(undefined);
  const [tenant, ...others] = distinctValues(header);
  const wellFormed = tenant !== undefined && others.length === 0 && TENANT_ID.test(tenant);
  return wellFormed ? ok(tenant) : err({ code: 'tenant_invalid' });
}

function namedTenant(
  header: Result<string | undefined, Refusal>,
  ofKeys: ReadonlySet<string>,
): Result<string, Refusal> {
  if (!header.ok) return header;
  const named = new Set(header.value === undefined ? ofKeys : [header.value, ...ofKeys]);
  const [tenant, ...others] = named;
  if (tenant === undefined) return err({ code: 'tenant_missing' });
  return others.length === 0 ? ok(tenant) : err({ code: 'tenant_mismatch' });
}

/** The values of a header whose lines the runtime has joined with commas, each once (RFC 9110 section 5.3). */
function distinctValues(joined: string): readonly string[] {
  return [...new Set(joined.split(',').map((value) => value.replace(/^[ \t]+|[ \t]+$/g, '')))];
}
