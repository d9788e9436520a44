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

/**
 * The gateway key of a request, from `authorization: Bearer K` (OpenAI's SDKs) or `x-api-key: K`
 * (Anthropic's). Says nothing about whether the key is valid.
 */
export function presentedKey(get: (name: string) => string | null | undefined): PresentedKey {
  const authorization = get(HEADER.authorization)?.trim() ?? '';
  const bearer = /^bearer +(.*)$/i.exec(authorization)?.[1] ?? authorization;
  const apiKey = get(HEADER.apiKey)?.trim() ?? '';
  const presented = new Set([bearer, apiKey].filter((value) => value !== ''));
  const [key] = presented;
  if (key === undefined) return { kind: 'none' };
  const tenant = GATEWAY_KEY.exec(key)?.[1];
  if (presented.size > 1 || tenant === undefined) return { kind: 'foreign' };
  return { kind: 'gateway', key, tenant };
}
