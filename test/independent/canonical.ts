import { textOf } from './encoding.ts';
import { Fault } from './fault.ts';

/** The value of an entry; throws unless its bytes are the canonical JSON (RFC 8785) of an object. */
export function readCanonical(entry: Uint8Array): unknown {
  const text = textOf(entry);
  const value = parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Fault('malformed', 'entry is not an object');
  // A name that comes twice, a number too great, white space: each is lost on the way back and so shows.
  if (canonical(value) !== text) throw new Fault('not_canonical', 'entry is not canonical JSON');
  return value;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Fault('malformed', 'entry is not JSON');
  }
}

/** RFC 8785 §3.2: ECMAScript's own literals, and the members in the order of their names' UTF-16 code units. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${canonical(name)}:${canonical(member)}`).join(',')}}`;
  }
  if (typeof value === 'string' && !value.isWellFormed())
    throw new Fault('not_canonical', 'entry has half a surrogate pair');
  return JSON.stringify(value);
}
