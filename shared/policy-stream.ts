import { type Document, isScalar, parseAllDocuments, visit } from 'yaml';
import { packSchema } from './pack.ts';
import { policySchema } from './policy.ts';
import type { PolicyInForce } from './policy-in-force.ts';

/** Largest policy stream that is read, in bytes: far more than a person can review. */
export const POLICY_STREAM_BYTES = 512 * 1024;

/** Aliases that one document may resolve to, so that a few lines cannot grow into gigabytes. */
const ALIASES = 100;

/**
 * A policy with the packs that it names, out of the YAML stream whose hash records cite; undefined where it is
 * no such stream. The form alone is checked, and not what `checkPolicy` and `checkPacks` know.
 */
export function parsePolicyStream(stream: Uint8Array): PolicyInForce | undefined {
  const [first, ...rest] = stream.length > POLICY_STREAM_BYTES ? [] : documentsOf(stream);
  const document = policySchema.safeParse(first);
  const packs = packSchema.array().safeParse(rest);
  if (!document.success || !packs.success) return undefined;
  const named = document.data.packs.join() === packs.data.map(({ pack }) => pack).join();
  return named ? { document: document.data, packs: packs.data } : undefined;
}

/** The documents of a YAML stream (YAML 1.2.2 section 9); none where anything in it is not as it should be. */
function documentsOf(stream: Uint8Array): readonly unknown[] {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(stream);
    // The library's own search for keys that stand twice takes minutes for some ten thousand keys.
    const documents = parseAllDocuments(text, { prettyErrors: false, uniqueKeys: false });
    const sound = documents.every(
      (document) => document.errors.length + document.warnings.length === 0 && isSound(document),
    );
    return sound ? documents.map((document) => document.toJS({ maxAliasCount: ALIASES })) : [];
  } catch {
    // Not UTF-8, nested deeper than the parser's stack, or aliases beyond the bound.
    return [];
  }
}

/** Whether no member stands twice, and aliases are few. */
function isSound(document: Document): boolean {
  let [distinct, aliases] = [true, 0];
  visit(document, {
    Alias: () => {
      aliases += 1;
    },
    Map: (_, { items }) => {
      const keys = items.flatMap(({ key }) => (isScalar(key) ? [String(key.value)] : []));
      if (new Set(keys).size < items.length) distinct = false;
    },
  });
  return distinct && aliases <= ALIASES;
}
