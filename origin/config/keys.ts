import { createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';
import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import { err, ok, type Result } from '../../shared/result.ts';
import { typedCommand } from '../typed-command.ts';
import { readBounded } from './bounded-file.ts';
import type { Fault } from './fault.ts';

/** The origin's own key, for receipts and checkpoints. As a key object it does not print its private part. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** From when on its signatures count, in ms since the epoch: `nbf` of the JWK. */
  readonly notBefore?: number;
}

const kid = z.string().regex(/^[\x21-\x7e]{1,128}$/);
const coordinate = z.string().regex(/^[A-Za-z0-9_-]{43}$/);

const publicJwk = z.object({ kty: z.literal('OKP'), crv: z.literal('Ed25519'), x: coordinate, kid });
const privateJwk = publicJwk.extend({ d: coordinate });
/** NumericDate, RFC 7519 section 2: seconds since the epoch. */
const signingJwk = privateJwk.extend({ nbf: z.number().nonnegative().exactOptional() });
const jwkSet = z.object({ keys: z.array(z.unknown()).max(64) });

/** The public Ed25519 keys whose assertions count (RFC 7517 key set, RFC 8037 keys), one at least. */
export function readEdgeKeys(file: string): Result<JSONWebKeySet, readonly Fault[]> {
  const json = readJson(file);
  if (!json.ok) return json;
  const set = jwkSet.safeParse(json.value);
  if (!set.success) return fault(file, 'is not a JSON Web Key Set: {"keys":[…]}');
  const keys = set.data.keys.map((key, index) => readPublic(key, `${file} keys[${index}]`));
  const faults = keys.flatMap((key) => (key.ok ? [] : key.error));
  if (faults.length > 0) return err(faults);
  const usable = keys.flatMap((key) => (key.ok ? [key.value] : []));
  if (usable.length === 0) return fault(file, 'holds no key: without one no edge can be believed');
  if (new Set(usable.map((key) => key.kid)).size < usable.length)
    return fault(file, 'has one kid on two keys');
  return ok({ keys: usable });
}

function readPublic(key: unknown, path: string): Result<z.infer<typeof publicJwk>, readonly Fault[]> {
  if (privateJwk.safeParse(key).success) {
    return fault(
      path,
      'is a private key: this file must hold public keys only, so replace that key and make a new one',
    );
  }
  const parsed = publicJwk.safeParse(key);
  if (!parsed.success) return fault(path, 'is not a public Ed25519 key with kty, crv, x and kid');
  try {
    createPublicKey({ key: parsed.data, format: 'jwk' });
    return ok(parsed.data);
  } catch {
    return fault(path, 'is not a usable Ed25519 key');
  }
}

/** The private Ed25519 key of an origin, from a JWK file. No fault repeats anything of its content. */
export function readSigningKey(file: string): Result<SigningKey, readonly Fault[]> {
  const json = readJson(file);
  if (!json.ok) return json;
  const parsed = signingJwk.safeParse(json.value);
  if (!parsed.success) return fault(file, 'is not a private Ed25519 key (JWK) with kty, crv, x, d and kid');
  try {
    const privateKey = createPrivateKey({ key: parsed.data, format: 'jwk' });
    const own = createPublicKey(privateKey).export({ format: 'jwk' });
    if (own.x !== parsed.data.x) return fault(file, 'has a public part that is not of its private part');
    const { kid, nbf } = parsed.data;
    return ok({ kid, privateKey, ...(nbf !== undefined && { notBefore: nbf * 1_000 }) });
  } catch {
    return fault(file, 'is not a usable Ed25519 key');
  }
}

function readJson(file: string): Result<unknown, readonly Fault[]> {
  const bytes = readBounded(file);
  if (!bytes.ok) {
    const made = typedCommand('keygen', '--out', 'FILE.jwk.json');
    return err([{ path: file, message: `${bytes.error}; "${made}" makes a key pair`, toStart: true }]);
  }
  try {
    return ok(JSON.parse(bytes.value.toString('utf8')));
  } catch {
    // The parser's own message quotes the text, which may be a key.
    return fault(file, 'is not JSON');
  }
}

const fault = (path: string, message: string): Result<never, readonly Fault[]> => err([{ path, message }]);
