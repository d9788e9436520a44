import type { Call as EdgeCall } from '../../edge/call.ts';
import type { Environment } from '../../edge/environment.ts';
import type { Claim } from '../../edge/inspect.ts';
import type { Tenant } from '../../edge/lookup.ts';
import { pin } from '../../edge/pin.ts';
import { matchKey } from '../../origin/admit/key.ts';
import type { Gateway } from '../../origin/gateway.ts';
import type { TenantRecord } from '../../origin/policy/tenants.ts';
import { isZone, type Zone, zoneOfCountry } from '../../shared/zones.ts';

/** What a request claims is not enough to send it anywhere: it takes the entry that the tenant was looked up in. */
export async function pinned(
  request: Request,
  claim: Claim,
  tenant: Tenant,
  call: EdgeCall,
  environment: Environment,
): Promise<void> {
  await pin(request, tenant, call, environment);
  // @ts-expect-error a claim that was not looked up
  await pin(request, claim, call, environment);
  // @ts-expect-error a target of the caller's choice
  await pin(request, { ...tenant, zone: 'https://elsewhere.example' }, call, environment);
}

/** Whoever was not admitted has no policy to be served under. */
export function admitted(gateway: Gateway, tenant: TenantRecord): void {
  const key = matchKey({ kind: 'none' }, tenant);
  // @ts-expect-error a key that may have been refused
  gateway.standpointOf({ tenant, key });
  // @ts-expect-error a tenant without its key
  gateway.standpointOf({ tenant });
  if (key.ok) gateway.standpointOf({ tenant, key: key.value });
}

/** A text becomes a zone by being one, and a country never does. */
export function zones(text: string): readonly (Zone | undefined)[] {
  return [
    isZone(text) ? text : undefined,
    zoneOfCountry('DE'),
    // @ts-expect-error a text that nobody checked
    text,
    // @ts-expect-error a country
    'de',
    // @ts-expect-error a cloud region
    'eu-west-2',
  ];
}
