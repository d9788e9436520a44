import { randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose';

export interface SigningKey {
  readonly private: JWK;
  readonly public: JWK;
}

/**
 * A new Ed25519 key pair; `kid` is its thumbprint (RFC 7638). `nbf` and `exp` (NumericDate, RFC 7519) say from when
 * until when its signatures count: verifiers refuse those of other times.
 */
export async function newSigningKey(validity: { nbf?: number; exp?: number } = {}): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair('EdDSA', { crv: 'Ed25519', extractable: true });
  const jwk = await exportJWK(publicKey);
  const about = { kid: await calculateJwkThumbprint(jwk), alg: 'EdDSA', use: 'sig', ...validity };
  return { private: { ...(await exportJWK(privateKey)), ...about }, public: { ...jwk, ...about } };
}

/** Writes a private key that only its owner can read; the file appears whole. Rejects where it exists. */
export async function writePrivateKey(file: string, key: JWK): Promise<void> {
  const written = await writeBeside(file, key);
  await link(written, file).finally(() => rm(written));
}

/** Writes a key set (RFC 7517 section 5); a reader sees the old file or the new one, never a part. */
export async function writePublicKeys(file: string, keys: readonly JWK[]): Promise<void> {
  await rename(await writeBeside(file, { keys }, 0o644), file);
}

async function writeBeside(file: string, content: object, mode = 0o600): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${randomUUID()}`;
  await writeFile(beside, `${JSON.stringify(content, null, 2)}\n`, { mode, flag: 'wx' });
  return beside;
}

/** The public half of a private Ed25519 JWK. */
export const publicHalf = ({ d: _, ...rest }: JWK): JWK => rest;
