import type { CryptoKey } from 'jose';
import { importJWK } from 'jose/key/import';
import * as z from 'zod/mini';
import { zoneSchema } from '../shared/tenant.ts';
import type { Zone } from '../shared/zones.ts';

/** The one call that the edge makes to KV. */
export interface TenantEntries {
  get(key: string, options: { type: 'text'; cacheTtl: number }): Promise<string | null>;
}

/** The private key that assertions are signed with, and the id by which origins find its public half. */
export interface SigningKey {
  readonly key: CryptoKey | Uint8Array;
  readonly kid: string;
}

/** The Worker's variables and bindings, checked. */
export interface Environment {
  readonly tenants: TenantEntries;
  readonly origins: Readonly<Partial<Record<Zone, string>>>;
  readonly unattributedHome: Zone;
  readonly zoneHosts: Readonly<Partial<Record<Zone, string>>>;
  readonly pepper: string | undefined;
  readonly signingKey: SigningKey;
}

const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', 'localhost']);

/** Scheme and authority only: the path is the request's, and keys cross no network in the clear. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  const safe = url.protocol === 'https:' || (url.protocol === 'http:' && LOOPBACK.has(url.hostname));
  return safe && `${url.origin}/` === url.href;
}

/** Variables are JSON text; wrangler hands over a table as the object it stands for. */
const json = <S extends z.core.$ZodType>(schema: S) =>
  z.pipe(
    z.transform((value: unknown, context) => {
      if (typeof value !== 'string') return value;
      try {
        const parsed: unknown = JSON.parse(value);
        return parsed;
      } catch {
        context.issues.push({ code: 'custom', message: 'not JSON', input: undefined });
        return z.NEVER;
      }
    }),
    schema,
  );

const bindings = z.object({
  TENANTS: z.custom<TenantEntries>(
    (value) =>
      typeof value === 'object' && value !== null && 'get' in value && typeof value.get === 'function',
  ),
  ORIGINS: json(z.partialRecord(zoneSchema, z.string().check(z.refine(isOrigin)))),
  UNATTRIBUTED_HOME: zoneSchema,
  EDGE_SIGNING_KEY: json(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      kid: z.string().check(z.minLength(1), z.maxLength(128)),
      x: z.string(),
      d: z.string(),
    }),
  ),
  ZONE_HOSTS: z.optional(json(z.partialRecord(zoneSchema, z.string().check(z.regex(/^[a-z0-9.-]{1,253}$/))))),
  TENANT_KEY_PEPPER: z.optional(z.string().check(z.minLength(16))),
});

/**
 * Checked environments by the isolate's own object for them. Finished values only: a promise that a request of
 * its own started would never settle for the others, once that request's caller has hung up.
 */
const checked = new WeakMap<object, Environment>();

/** The Worker's environment, or undefined where any part of it is missing or wrong: then nothing is served. */
export async function environmentOf(env: object): Promise<Environment | undefined> {
  const known = checked.get(env);
  if (known !== undefined) return known;
  const environment = await check(env);
  if (environment !== undefined) checked.set(env, environment);
  return environment;
}

async function check(env: object): Promise<Environment | undefined> {
  const parsed = bindings.safeParse(env);
  if (!parsed.success) return complain(parsed.error.issues.map((issue) => String(issue.path[0])));
  const { data } = parsed;
  if (data.ORIGINS[data.UNATTRIBUTED_HOME] === undefined) return complain(['UNATTRIBUTED_HOME']);
  const key = await importJWK(data.EDGE_SIGNING_KEY, 'EdDSA').catch(() => undefined);
  if (key === undefined) return complain(['EDGE_SIGNING_KEY']);
  return {
    tenants: data.TENANTS,
    origins: data.ORIGINS,
    unattributedHome: data.UNATTRIBUTED_HOME,
    zoneHosts: data.ZONE_HOSTS ?? {},
    pepper: data.TENANT_KEY_PEPPER,
    signingKey: { key, kid: data.EDGE_SIGNING_KEY.kid },
  };
}

/** Names only: a variable's value may be a secret. */
function complain(variables: readonly string[]): undefined {
  console.error(`The Worker serves nothing: missing or wrong are ${[...new Set(variables)].join(', ')}`);
}
