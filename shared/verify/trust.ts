import { createPublicKey, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import { decodeBase64url } from '../base64.ts';
import { isLogName } from '../checkpoint.ts';
import type { CheckpointKeys } from '../open-checkpoint.ts';
import { err, ok, type Result } from '../result.ts';
import { parseVkey, type Validity, type VerifierKey, verifierKey } from '../verifier-key.ts';

/** A key of the log that the auditor trusts, and from when until when. */
export interface TrustedKey extends Validity {
  readonly publicKey: KeyObject;
  /** As receipts name it; missing where the key came as a vkey. */
  readonly kid?: string;
  /** The log whose key it is, where the key says so. */
  readonly log?: string;
}

/** All that an auditor brings along. */
export interface Trust {
  readonly keys: readonly TrustedKey[];
  readonly witnesses: readonly VerifierKey[];
  /** How many distinct witnesses must have cosigned. */
  readonly quorum: number;
  /** The log's name, where the auditor insists on one. */
  readonly log?: string;
  /** A signed checkpoint of this log from an earlier day: what is verified must be one log with it. */
  readonly held?: string;
}

/** NumericDate, RFC 7519 section 2: seconds since the epoch. */
const numericDate = z.number().min(0).max(253_402_300_799);

/** RFC 8037 section 2. `nbf` and `exp`: from when until when its signatures count. */
const jwkSchema = z.object({
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string().refine((x) => decodeBase64url(x)?.length === 32),
  d: z.undefined().optional(),
  kid: z.string().max(128).optional(),
  nbf: numericDate.optional(),
  exp: numericDate.optional(),
});
const jwksSchema = z.object({ keys: z.array(z.unknown()).min(1).max(64) });

/** Longest file of keys, in characters. */
const KEYS_LENGTH = 262_144;

/** The keys of a log: a JWK, a JWK Set (RFC 7517), or one C2SP vkey a line. The error says what is wrong. */
export function parseTrustedKeys(text: string): Result<readonly TrustedKey[], string> {
  if (text.length > KEYS_LENGTH) return err('is too long for a file of public keys');
  if (!text.trimStart().startsWith('{')) {
    const keys = parseVkeys(text);
    if (!keys.ok) return keys;
    return ok(keys.value.map(({ publicKey, name }) => ({ publicKey, log: name })));
  }
  const json = jsonOf(text);
  const set = jwksSchema.safeParse(json);
  const keys: TrustedKey[] = [];
  for (const jwk of set.success ? set.data.keys : [json]) {
    const key = trustedKey(jwk);
    if (!key.ok) return key;
    keys.push(key.value);
  }
  const kids = keys.flatMap(({ kid }) => (kid === undefined ? [] : [kid]));
  return new Set(kids).size === kids.length ? ok(keys) : err('has one kid on two keys');
}

function trustedKey(jwk: unknown): Result<TrustedKey, string> {
  if (z.looseObject({ d: z.string() }).safeParse(jwk).success) {
    return err('holds a private key: verify with the public one');
  }
  const parsed = jwkSchema.safeParse(jwk);
  if (!parsed.success) return err('holds something that is no public Ed25519 key (RFC 8037)');
  const { kty, crv, x, kid, nbf, exp } = parsed.data;
  return ok({
    publicKey: createPublicKey({ key: { kty, crv, x }, format: 'jwk' }),
    ...(kid !== undefined && { kid }),
    ...(nbf !== undefined && { notBefore: nbf * 1000 }),
    // RFC 7519 section 4.1.4: not on or after `exp`.
    ...(exp !== undefined && { notAfter: exp * 1000 - 1 }),
  });
}

/** The keys of witnesses, which cosign with the time (C2SP tlog-cosignature). */
export function parseWitnesses(text: string): Result<readonly VerifierKey[], string> {
  const keys = parseVkeys(text);
  if (!keys.ok || keys.value.every(({ type }) => type === 'cosignature')) return keys;
  return err('holds a key that is not for cosignatures (type 4)');
}

/** Keys as C2SP writes them, one a line; empty lines and lines that begin with `#` are passed over. */
function parseVkeys(text: string): Result<readonly VerifierKey[], string> {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  if (lines.length === 0 || text.length > KEYS_LENGTH) return err('holds no keys, or too many');
  const keys: VerifierKey[] = [];
  for (const line of lines) {
    const key = parseVkey(line.replace(/\r$/, ''));
    if (!key.ok) return err(`holds a line that is ${key.error}`);
    keys.push(key.value);
  }
  return ok(keys);
}

/** Whose signatures count on the checkpoints of a log of this name: none where no log can be called so. */
export function checkpointKeys({ keys, witnesses }: Trust, log: string): CheckpointKeys {
  const own = isLogName(log) ? keys.filter((key) => key.log === undefined || key.log === log) : [];
  const both = own.flatMap(({ publicKey, ...validity }) => [
    verifierKey(log, 'ed25519', publicKey, validityOf(validity)),
    verifierKey(log, 'cosignature', publicKey, validityOf(validity)),
  ]);
  return { log: both, witnesses };
}

const validityOf = ({ notBefore, notAfter }: Validity): Validity => ({
  ...(notBefore !== undefined && { notBefore }),
  ...(notAfter !== undefined && { notAfter }),
});

/** The value of a JSON text, or undefined where it is none. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
