import { HEADER } from './headers.ts';

/** Form of a tenant id. */
export const TENANT_ID = /^[a-z0-9][a-z0-9-]{0,62}$/;

/** `rgk_<tenant>_<secret>`; 256 random bits are 43 base64url characters. */
const GATEWAY_KEY = /^rgk_([a-z0-9][a-z0-9-]{0,62})_([A-Za-z0-9_-]{43,128})$/;

export type PresentedKey =
  | { readonly kind: 'none' }
  /** A credential that no gateway key looks like, or two that differ. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'gateway'; readonly key: string; readonly tenant: string };

/** What the header's reader gives for a header that is not there differs between the two runtimes. */
type HeaderReader = (name: string) => string | null | undefined;

/** The credentials of a request, each once: `authorization: Bearer K` (OpenAI's SDKs), `x-api-key: K` (Anthropic's). */
function credentials(get: HeaderReader): ReadonlySet<string> {
  const authorization = get(HEADER.authorization)?.trim() ?? '';
  const bearer = /^bearer(?: +(.*))?$/i.exec(authorization);
  const values = [bearer === null ? authorization : (bearer[1] ?? ''), get(HEADER.apiKey)?.trim() ?? ''];
  return new Set(values.filter((value) => value !== ''));
}

const tenantOf = (key: string): string | undefined => GATEWAY_KEY.exec(key)?.[1];

/** The gateway key that a request presents. Says nothing about whether the key is valid. */
export function presentedKey(get: HeaderReader): PresentedKey {
  const [key, ...others] = credentials(get);
  if (key === undefined) return { kind: 'none' };
  const tenant = tenantOf(key);
  if (others.length > 0 || tenant === undefined) return { kind: 'foreign' };
  return { kind: 'gateway', key, tenant };
}

/** Every tenant that the credentials of a request name: more than one where two keys contradict each other. */
export const tenantsOfKeys = (get: HeaderReader): ReadonlySet<string> =>
  new Set([...credentials(get)].map(tenantOf).filter((tenant) => tenant !== undefined));
