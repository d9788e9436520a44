import * as z from 'zod/mini';
import { isZone, type Zone } from './zones.ts';

export const zoneSchema = z.custom<Zone>((value) => typeof value === 'string' && isZone(value));

/** The value of a tenant's KV entry: exactly these three members, since KV is replicated world-wide. */
export const tenantEntrySchema = z.strictObject({
  jurisdiction: zoneSchema,
  state: z.enum(['active', 'moving', 'suspended']),
  version: z.int().check(z.nonnegative()),
});

export type TenantEntry = z.infer<typeof tenantEntrySchema>;

/**
 * The KV key of a tenant: `tenant:<id>`, or with a pepper `tenant:` + base64url(HMAC-SHA-256(pepper, id)), so
 * that the world-wide replicated store does not list the customers.
 */
export async function tenantEntryKey(tenant: string, pepper: string | undefined): Promise<string> {
  if (pepper === undefined) return `tenant:${tenant}`;
  const bytes = new TextEncoder();
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes.encode(pepper), algorithm, false, ['sign']);
  const mac = await crypto.subtle.sign('HMAC', key, bytes.encode(tenant));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(mac)));
  return `tenant:${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}
