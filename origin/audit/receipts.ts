import type { KeyObject } from 'node:crypto';
import { SignJWT } from 'jose';
import { RECEIPT_TYPE, type ReceiptClaims } from '../../shared/receipt.ts';
import type { AuditRecord } from '../../shared/record.ts';

/** An Ed25519 private key, and the name that verifiers know it by. */
export interface SigningKey {
  readonly kid: string;
  readonly privateKey: KeyObject;
}

/** Signs receipts with the origin's own key: compact JWS, EdDSA (RFC 7515, RFC 8037). */
export interface ReceiptSigner {
  /** @param leaf RFC 6962 leaf hash of the record, 32 bytes */
  sign(record: AuditRecord, leaf: Uint8Array): Promise<string>;
}

export function receiptSigner(logName: string, { kid, privateKey }: SigningKey): ReceiptSigner {
  const header = { alg: 'EdDSA', typ: RECEIPT_TYPE, kid };
  return {
    sign: (record, leaf) =>
      new SignJWT(claimsOf(record, leaf, logName)).setProtectedHeader(header).sign(privateKey),
  };
}

function claimsOf(record: AuditRecord, leaf: Uint8Array, logName: string): ReceiptClaims {
  return {
    iss: logName,
    iat: Math.floor(Date.parse(record.at) / 1000),
    rid: record.request_id ?? '',
    sub: record.tenant ?? '',
    jur: record.jurisdiction,
    endpoint: record.endpoint ?? '',
    provider: record.provider ?? '',
    ...(record.provider_region !== undefined && { provider_region: record.provider_region }),
    ...(record.serving_region !== undefined && { serving_region: record.serving_region }),
    ...(record.region_source !== undefined && { region_source: record.region_source }),
    ...(record.facility !== undefined && { facility: record.facility }),
    policy: `${record.policy ?? ''}@${record.policy_version ?? ''}`,
    attempt: record.attempt ?? 0,
    rec: record.id,
    leaf: Buffer.from(leaf).toString('base64url'),
  };
}
