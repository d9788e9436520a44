import { randomBytes } from 'node:crypto';

/** Bytes of a key's secret: 256 bits. */
const SECRET_BYTES = 32;

/** A new gateway key of a tenant, `rgk_<tenant>_<secret>`. It is shown once; only its hash is stored. */
export const newGatewayKey = (tenant: string): string =>
  `rgk_${tenant}_${randomBytes(SECRET_BYTES).toString('base64url')}`;
