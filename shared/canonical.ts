import canonicalize from 'canonicalize';

/** The canonical JSON text of a value (RFC 8785). Throws on what JSON cannot hold. */
export function canonicalJson(value: object): string {
  const text = canonicalize(value);
  if (text === undefined) throw new TypeError('value has no JSON form');
  return text;
}
