import { verify } from 'node:crypto';
import { z } from 'zod';
import { decodeBase64url } from '../base64.ts';
import { RECEIPT_TYPE, type ReceiptClaims, receiptSchema } from '../receipt.ts';
import { err, ok, type Result } from '../result.ts';
import { isValidAt } from '../verifier-key.ts';
import { strictJson, textOf } from './lines.ts';
import type { FaultKind } from './report.ts';
import type { TrustedKey } from './trust.ts';

const headerSchema = z.strictObject({
  alg: z.literal('EdDSA'),
  typ: z.literal(RECEIPT_TYPE),
  kid: z.string().min(1).max(128),
});
const claimsSchema = z.strictObject(receiptSchema.shape);

/** Three parts in base64url; a signature has 64 bytes. */
const COMPACT = /^([A-Za-z0-9_-]{1,512})\.([A-Za-z0-9_-]{1,16384})\.([A-Za-z0-9_-]{86})$/;

export interface ReceiptFault {
  readonly fault: FaultKind;
  readonly reason: string;
}

interface Parts {
  readonly head: string;
  readonly body: string;
  readonly tail: string;
}

type Opened = Result<ReceiptClaims, ReceiptFault>;

const malformed = (reason: string): Opened => err({ fault: 'malformed', reason });

/**
 * Gives the claims of receipts whose signature holds: compact JWS, EdDSA (RFC 7515 section 5.2, RFC 8037). The
 * header of the last one is kept, as thousands have the same.
 */
export function receiptOpener(keys: readonly TrustedKey[]): (jws: string) => Opened {
  let last: { readonly head: string; readonly kid: string | undefined } | undefined;
  return (jws) => {
    const [, head = '', body = '', tail = ''] = COMPACT.exec(jws) ?? [];
    if (last?.head !== head) last = { head, kid: headerSchema.safeParse(jsonPart(head)).data?.kid };
    const { kid } = last;
    if (kid === undefined) return malformed('it is no compact JWS with the header of a receipt');
    const named = keys.filter((key) => key.kid === undefined || key.kid === kid);
    if (named.length === 0) return err({ fault: 'unsigned', reason: 'no key that you trust has its kid' });
    return opened({ head, body, tail }, named);
  };
}

function opened({ head, body, tail }: Parts, keys: readonly TrustedKey[]): Opened {
  const signature = decodeBase64url(tail);
  if (signature === undefined) return malformed('its signature is no base64url');
  const input = Buffer.from(`${head}.${body}`);
  const key = keys.find(({ publicKey }) => verify(null, input, publicKey, signature));
  if (key === undefined) return err({ fault: 'forged', reason: 'its signature does not hold' });
  const claims = claimsSchema.safeParse(jsonPart(body));
  if (!claims.success) return malformed('what is signed is no receipt');
  return isValidAt(key, claims.data.iat * 1000)
    ? ok(claims.data)
    : err({ fault: 'key_not_valid', reason: 'the key was not valid when it was issued' });
}

function jsonPart(part: string): unknown {
  const bytes = decodeBase64url(part);
  const text = bytes && textOf(bytes);
  return text === undefined ? undefined : strictJson(text);
}
