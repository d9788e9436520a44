import { mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

export interface SigningKey {
  readonly private: JWK;
  readonly public: JWK;
}

/** A new Ed25519 key pair; `kid` is its thumbprint (RFC 7638). */
export async function newSigningKey(): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(publicKey);
  const about = { kid: await calculateJwkThumbprint(jwk), alg: 'EdDSA', use: 'sig' };
  return { private: { ...(await exportJWK(privateKey)), ...about }, public: { ...jwk, ...about } };
}

/** Writes a private key that only its owner can read. Rejects where the file exists. */
export async function writePrivateKey(file: string, key: JWK): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(key, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
}

export async function writePublicKeys(file: string, keys: readonly JWK[]): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify({ keys }, null, 2)}\n`);
}

/** The public half of a private Ed25519 JWK. */
export const publicHalf = ({ d: _, ...rest }: JWK): JWK => rest;
