import { z } from 'zod';
import { readCanonical } from './canonical.ts';
import { bytesOf, fromBase64, same, textOf } from './encoding.ts';
import { Fault } from './fault.ts';
import { ED25519, readVkey } from './note.ts';
import { hashLeaf } from './tree.ts';

const headerSchema = z.object({
  alg: z.literal('EdDSA'),
  typ: z.literal('residency-receipt+jwt'),
  crit: z.undefined().optional(),
});
const claimsSchema = z.looseObject({ iss: z.string(), rid: z.string(), rec: z.string(), leaf: z.string() });
const recordSchema = z.looseObject({ kind: z.literal('served'), id: z.string(), request_id: z.string() });

export type Claims = z.infer<typeof claimsSchema>;

/**
 * Checks a receipt (compact JWS, RFC 7515; EdDSA, RFC 8037) under the key of the log, and that it commits to
 * this entry. Gives its claims.
 */
export async function checkReceipt(receipt: string, vkey: string, entry: string): Promise<Claims> {
  const key = await readVkey(vkey, ED25519);
  const [header = '', payload = '', signature = '', ...rest] = receipt.split('.');
  if (rest.length > 0) throw new Fault('malformed', 'not a compact JWS');
  const signed = bytesOf(`${header}.${payload}`);
  if (!(await crypto.subtle.verify('Ed25519', key.key, fromBase64(signature, 'base64url'), signed)))
    throw new Fault('forged', 'signature of the receipt does not hold');
  part(headerSchema, header);
  const claims = part(claimsSchema, payload);
  if (claims.iss !== key.name) throw new Fault('other_log', `a receipt of ${claims.iss}`);
  const record = recordSchema.safeParse(readCanonical(bytesOf(entry)));
  if (!record.success) throw new Fault('malformed', 'not the record of a served attempt');
  const leaf = await hashLeaf(bytesOf(entry));
  const { id, request_id } = record.data;
  if (!same(fromBase64(claims.leaf, 'base64url'), leaf) || claims.rec !== id || claims.rid !== request_id)
    throw new Fault('not_included', 'the receipt is of another record');
  return claims;
}

function part<T>(schema: z.ZodType<T>, encoded: string): T {
  const text = textOf(fromBase64(encoded, 'base64url'));
  try {
    return schema.parse(JSON.parse(text));
  } catch {
    throw new Fault('malformed', 'a part of the receipt is not what it should be');
  }
}
