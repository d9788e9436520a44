import type { ErrorCode } from '../../../shared/errors.ts';

/** What to mend where calls are refused by a code, and at whose end. */
export const MEND: Readonly<Record<ErrorCode, string>> = {
  jurisdiction_missing: 'The integration sends no x-jurisdiction: set it as a default header of its client.',
  jurisdiction_unknown:
    'The integration sends a country, a region or capitals in x-jurisdiction: it takes a zone tag such as "eu".',
  jurisdiction_ambiguous: 'Something on the way adds a second x-jurisdiction: find the proxy that does.',
  tenant_missing: 'The integration names no tenant: give it a whole gateway key.',
  tenant_invalid:
    'The integration sends no tenant id in x-tenant-id: leave it out, as the key names the tenant.',
  tenant_unknown: 'The tenant is not registered: create it, or take the integration of a former one down.',
  tenant_mismatch: 'x-tenant-id and key are of two tenants: give the integration the key of its own tenant.',
  jurisdiction_mismatch:
    'The integration asks for another zone than the tenant is registered in: mend its x-jurisdiction, or move the tenant.',
  tenant_suspended: 'The tenant is suspended: tell it, or lift the suspension.',
  tenant_moving: 'The tenant is being moved: finish the move; the calls come again by themselves.',
  lookup_unavailable: 'The edge could not look tenants up: see how KV was at the time.',
  origin_unavailable: 'The edge could not reach this origin: see its network and its restarts at the time.',
  wrong_host: "The integration calls a host outside the zone: give it the zone's own host name.",
  gateway_busy:
    'A limit on calls under way was reached: raise it, or ask the tenant to call at a steadier pace.',
  assertion_invalid:
    'Calls come past the edge, or clocks differ: let nothing but the edge reach the origin, and check the clocks.',
  key_missing: 'The integration sends no gateway key: give it one.',
  key_invalid: 'The integration has a wrong key: create one for it and find out where the old one came from.',
  key_revoked: 'The integration still uses a key that was revoked or has expired: give it a current one.',
  misdirected: "The edge sends calls of another zone here: check the edge's ORIGINS and the tenant's record.",
  body_invalid: 'The integration sends a body that its API does not have: see the SDK that it uses.',
  body_too_large: 'The integration sends more than the body limit: shorten its prompts, or raise the limit.',
  workload_unknown:
    'The integration asks for a workload that its policy does not have: mend its `model`, or add the workload.',
  route_unknown: 'The integration calls a path that the gateway does not serve: check its base URL.',
  idempotency_in_flight: 'The integration repeats a call before its answer has come: let it wait longer.',
  model_not_allowed: 'Policy or team do not allow the workload: give the team another, or change the policy.',
  region_blocked:
    'Policy and team lock leave no endpoint: add one in the regions that are left, or loosen the lock.',
  no_compliant_endpoint:
    'Every endpoint of the graph was out: see "residency endpoints", and add one inside the policy.',
  region_violation: 'An endpoint answered from outside its policy: find out why before it is released.',
  upstream_rejected: 'The endpoint itself rejects the request: see what its API says of it.',
  upstream_interrupted: 'Answers break off at the endpoint: see how it was at the time.',
  ledger_unavailable: 'The audit log could not be written: see the disk of this origin.',
};
