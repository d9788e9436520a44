import { createHash } from 'node:crypto';
import type { Pack } from '../../shared/pack.ts';
import { retentionOf } from '../../shared/pack-rules.ts';
import type { Policy } from '../../shared/policy.ts';
import { type PolicyInForce, policyLabel } from '../../shared/policy-in-force.ts';

/** A pack and the bytes of its file. */
export interface LoadedPack {
  readonly pack: Pack;
  readonly bytes: Uint8Array;
}

/** A policy document as it is in force, with the packs that it names. */
export interface LoadedPolicy extends PolicyInForce {
  readonly name: string;
  readonly version: string;
  readonly label: `${string}@${string}`;
  /**
   * All that was in force, as one YAML stream: the document's file, and after a line `---` each the files of its
   * packs. Without packs it is the file itself.
   */
  readonly stream: Uint8Array;
  /** SHA-256 of `stream`, hex: a person who holds the stream as a file checks it with `sha256sum`. */
  readonly sha256: string;
  /** Days that records are kept at least; missing where they are kept for ever. */
  readonly retentionDays?: number;
}

/** Ends one document of a YAML stream and begins the next (YAML 1.2.2 section 9.2); no document can contain it. */
const NEXT_DOCUMENT = Buffer.from('\n---\n');

/**
 * A policy in force, from its checked document, the bytes that it was read from, and its packs. Throws where
 * they are not the packs that the document names, as it would be less strict without them.
 */
export function loadedPolicy(
  document: Policy,
  bytes: Uint8Array,
  packs: readonly LoadedPack[] = [],
): LoadedPolicy {
  if (document.packs.join() !== packs.map(({ pack }) => pack.pack).join()) {
    throw new Error(`the policy ${document.policy} is not given with the packs that it names`);
  }
  const stream = Buffer.concat([bytes, ...packs.flatMap((pack) => [NEXT_DOCUMENT, pack.bytes])]);
  const own = packs.map(({ pack }) => pack);
  const retentionDays = retentionOf(document, own);
  return {
    document,
    packs: own,
    name: document.policy,
    version: document.version,
    label: policyLabel(document),
    stream,
    sha256: createHash('sha256').update(stream).digest('hex'),
    ...(retentionDays !== undefined && { retentionDays }),
  };
}
