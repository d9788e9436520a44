import { type Document, isNode, isScalar, visit } from 'yaml';

export interface KeyFault {
  readonly offset: number;
  readonly message: string;
}

/**
 * Keys by which a document could say one thing to its reader and another to the program: two that are one member
 * once they are read (`123` and `"123"`), of which the last would silently win, keys that
 * are not written out, and `__proto__`.
 */
export function keyFaults(document: Document): readonly KeyFault[] {
  const faults: KeyFault[] = [];
  visit(document, {
    Map: (_, { items }) => {
      const seen = new Set<string>();
      for (const { key } of items) {
        const name = nameOf(key);
        const message = faultOf(name, seen);
        if (message !== undefined) faults.push({ offset: isNode(key) ? (key.range?.[0] ?? 0) : 0, message });
        if (name !== undefined) seen.add(name);
      }
    },
  });
  return faults;
}

/** The member that a key becomes; undefined for an alias, a list or a map. */
const nameOf = (key: unknown): string | undefined => {
  if (!isScalar(key)) return undefined;
  return key.value === null ? '' : String(key.value);
};

function faultOf(name: string | undefined, seen: ReadonlySet<string>): string | undefined {
  if (name === undefined) return 'the name of a member must be written out';
  if (name === '__proto__') return 'a member cannot be called __proto__';
  return seen.has(name) ? 'a member stands here twice' : undefined;
}
