import type { Refusal } from '../../shared/errors.ts';
import { HEADER } from '../../shared/headers.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { Zone } from '../../shared/zones.ts';
import type { TenantRecord } from '../policy/tenants.ts';
import type { AssertionCheck, AssertionFault } from './assertion.ts';
import type { Call } from './call.ts';
import { matchKey, type TenantKey } from './key.ts';

/** A caller who may be served in this zone. */
export interface Admitted {
  readonly tenant: TenantRecord;
  readonly key: TenantKey;
}

export interface Admission {
  readonly zone: Zone;
  readonly assertions: AssertionCheck;
  readonly headerBytes: number;
  tenant(id: string): TenantRecord | undefined;
  /** Told why an assertion did not count, for the operator's log. */
  rejected(fault: AssertionFault): void;
}

/**
 * Decides from headers alone whether this caller, with this key, for this tenant, is served here, in the
 * contract's order: assertion, zone, tenant's record, key. What becomes known on the way goes into the call's
 * facts, so that the record of a refusal names whom the edge vouched for and no one else.
 */
export async function admit(call: Call, admission: Admission): Promise<Result<Admitted, Refusal>> {
  if (headBytes(call) > admission.headerBytes) {
    return err({ code: 'body_too_large', limit: 'header_bytes', bytes: admission.headerBytes });
  }
  const asserted = await admission.assertions.request({
    token: call.header(HEADER.assertion),
    method: call.incoming.method ?? '',
    target: call.target,
  });
  if (!asserted.ok) {
    admission.rejected(asserted.error);
    return err(refusalOf(asserted.error));
  }
  const { sub, jur, colo } = asserted.value;
  call.know({ tenant: sub, jurisdiction_claimed: jur, ...(colo !== undefined && { colo }) });
  if (jur !== admission.zone) return err({ code: 'misdirected' });
  const tenant = admission.tenant(sub);
  const refusal = unfit(tenant, admission.zone);
  if (refusal !== undefined || tenant === undefined) return err(refusal ?? { code: 'misdirected' });
  const key = matchKey(call.presentedKey, tenant);
  if (!key.ok) return key;
  call.know({ key_id: key.value.id, ...(key.value.team !== undefined && { team: key.value.team }) });
  return ok({ tenant, key: key.value });
}

/**
 * Bytes of the request's target and headers, without the edge's assertion, which is not the caller's to answer
 * for; Node gives each as one character a byte.
 */
function headBytes(call: Call): number {
  const own = call.header(HEADER.assertion)?.length ?? 0;
  return call.incoming.rawHeaders.reduce((sum, text) => sum + text.length, call.target.length) - own;
}

/** What the sender of an assertion that does not count is told. */
export const refusalOf = (fault: AssertionFault): Refusal =>
  fault === 'memory_full'
    ? { code: 'gateway_busy', limit: 'assertions_remembered' }
    : { code: 'assertion_invalid' };

/**
 * A tenant that this origin has no record of is not told apart from one that lives in another zone: an edge
 * with an old entry sends either here, and this origin can speak for neither.
 */
function unfit(tenant: TenantRecord | undefined, zone: Zone): Refusal | undefined {
  if (tenant === undefined || tenant.jurisdiction !== zone) return { code: 'misdirected' };
  switch (tenant.state ?? 'active') {
    case 'active':
      return undefined;
    case 'suspended':
      return { code: 'tenant_suspended' };
    case 'moving':
      return { code: 'tenant_moving' };
  }
}
