import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { JWK } from 'jose';
import { parse } from 'yaml';
import { z } from 'zod';
import { newSigningKey, publicHalf, writePrivateKey, writePublicKeys } from '../keys/signing-key.ts';

/** What must be known of a configuration before it can be checked: which keys and which token it wants. */
const namesSchema = z.object({
  edge_keys: z.string().optional(),
  signing_key: z.string().optional(),
  admin: z.object({ token_env: z.string().optional() }).optional(),
});

const jwkSchema = z.looseObject({ kty: z.string(), kid: z.string() });

/** The private key in a file, made where there is none; its public half, for verifiers, is put beside it as a set. */
export async function localSigningKey(file: string): Promise<JWK> {
  if (!existsSync(file)) await writePrivateKey(file, (await newSigningKey()).private);
  const key = jwkSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  const publicKeys = `${file.replace(/\.jwk\.json$/, '')}.jwks.json`;
  if (!existsSync(publicKeys)) await writePublicKeys(publicKeys, [publicHalf(key)]);
  return key;
}

/**
 * Makes the key files that a configuration names and that do not exist, and tells which variable holds the
 * admin token. What is wrong with the configuration is not told here but where it is loaded.
 */
export async function makeMissingKeys(config: string, edgeKey: JWK): Promise<{ readonly tokenName: string }> {
  const text = await readFile(config, 'utf8').catch(() => '');
  const named = namesSchema.safeParse(parsed(text)).data ?? {};
  const at = (path: string) => resolve(dirname(config), path);
  if (named.signing_key !== undefined) await localSigningKey(at(named.signing_key));
  if (named.edge_keys !== undefined && !existsSync(at(named.edge_keys))) {
    await writePublicKeys(at(named.edge_keys), [publicHalf(edgeKey)]);
  }
  return { tokenName: named.admin?.token_env ?? 'RESIDENCY_ADMIN_TOKEN' };
}

function parsed(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return undefined;
  }
}
