import canonicalize from 'canonicalize';

/** The canonical JSON text of a value (RFC 8785). Throws on what JSON cannot hold. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}

/** Whether a text is the canonical form of the value that was parsed from it. Never throws. */
export function isCanonicalJson(value: object, text: string): boolean {
  // RFC 8785 writes values as JSON.stringify does, but for halves of surrogate pairs, which it refuses. So most
  // texts need not be built anew, which takes several times as long.
  if (JSON.stringify(value) === text && isSorted(value) && !text.includes('\\u')) return true;
  try {
    return canonicalJson(value) === text;
  } catch {
    return false;
  }
}

/** Whether members stand in the order of their names by UTF-16 code units, RFC 8785 section 3.2.3, all the way down. */
function isSorted(value: object): boolean {
  let last = '';
  for (const [name, member] of Object.entries(value)) {
    if (!Array.isArray(value) && name < last) return false;
    if (typeof member === 'object' && member !== null && !isSorted(member)) return false;
    last = name;
  }
  return true;
}
