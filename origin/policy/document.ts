import { createHash } from 'node:crypto';
import type { Policy } from '../../shared/policy.ts';

/** A policy document as it is in force. */
export interface LoadedPolicy {
  readonly document: Policy;
  readonly name: string;
  readonly version: string;
  readonly label: `${string}@${string}`;
  /** SHA-256 of the file's bytes, hex. */
  readonly sha256: string;
}

/** A policy in force, from its checked document and the bytes that it was read from. */
export const loadedPolicy = (document: Policy, bytes: Uint8Array): LoadedPolicy => ({
  document,
  name: document.policy,
  version: document.version,
  label: `${document.policy}@${document.version}`,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});
