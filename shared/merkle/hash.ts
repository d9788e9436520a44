import { createHash } from 'node:crypto';

const LEAF_PREFIX = Uint8Array.of(0);

/** Merkle tree hash of one leaf: SHA-256(0x00 || entry), RFC 6962 section 2.1. 32 bytes. */
export const leafHash = (entry: string | Uint8Array): Buffer =>
  createHash('sha256').update(LEAF_PREFIX).update(entry).digest();
