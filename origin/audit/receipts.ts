import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { RECEIPT_TYPE, type ReceiptClaims, receiptClaims } from '../../shared/receipt.ts';
import type { AuditRecord } from '../../shared/record.ts';

/** An Ed25519 private key, and the name that verifiers know it by. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
  /** From when on its signatures count, in ms since the epoch; missing where they always have. */
  readonly notBefore?: number;
}

/** Signs receipts with the origin's own key: compact JWS, EdDSA (RFC 7515, RFC 8037). */
export interface ReceiptSigner {
  /** @param leaf RFC 6962 leaf hash of the record, 32 bytes */
  sign(record: AuditRecord, leaf: Uint8Array): Promise<string>;
  /**
   * The receipt of an earlier answer: the same again, as signatures are deterministic (RFC 8032), unless the key
   * is newer than the record; then it is issued now. @param now in ms since the epoch
   */
  signAgain(record: AuditRecord, leaf: Uint8Array, now: number): Promise<string>;
}

/** Whether a receipt went out with what this record tells: an endpoint's answer, or its verdict on the request. */
export const carriesReceipt = ({ kind, endpoint, code }: AuditRecord): boolean =>
  endpoint !== undefined && (kind === 'served' || (kind === 'failed' && code === 'upstream_rejected'));

export function receiptSigner(
  logName: string,
  { kid, privateKey, notBefore = Number.NEGATIVE_INFINITY }: SigningKey,
): ReceiptSigner {
  const header = { alg: 'EdDSA', typ: RECEIPT_TYPE, kid };
  const signed = (claims: ReceiptClaims): Promise<string> =>
    new SignJWT({ ...claims }).setProtectedHeader(header).sign(privateKey);
  return {
    sign: (record, leaf) => signed(receiptClaims(record, leaf, logName)),
    signAgain: (record, leaf, now) => {
      const claims = receiptClaims(record, leaf, logName);
      const isValid = claims.iat * 1_000 >= notBefore;
      return signed(isValid ? claims : { ...claims, iat: Math.floor(now / 1_000) });
    },
  };
}
