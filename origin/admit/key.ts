import { createHash, timingSafeEqual } from 'node:crypto';
import type { Refusal } from '../../shared/errors.ts';
import type { PresentedKey } from '../../shared/gateway-key.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import type { TenantRecord } from '../policy/tenants.ts';

export type TenantKey = TenantRecord['keys'][number];

/** Hex SHA-256 of a gateway key as presented, which is all that is stored of it. */
export const keyHash = (key: string): string => createHash('sha256').update(key).digest('hex');

/**
 * The tenant's key that was presented. Every stored hash is compared, each in constant time, so that the
 * answer's time says nothing of how near a guess was.
 */
export function matchKey(presented: PresentedKey, tenant: TenantRecord): Result<TenantKey, Refusal> {
  switch (presented.kind) {
    case 'none':
      return err({ code: 'key_missing' });
    case 'foreign':
      return err({ code: 'key_invalid' });
    case 'gateway': {
      if (presented.tenant !== tenant.id) return err({ code: 'tenant_mismatch' });
      const hash = Buffer.from(keyHash(presented.key), 'hex');
      const [match] = tenant.keys.filter(({ sha256 }) => timingSafeEqual(Buffer.from(sha256, 'hex'), hash));
      if (match === undefined) return err({ code: 'key_invalid' });
      return match.revoked === true ? err({ code: 'key_revoked' }) : ok(match);
    }
  }
}
