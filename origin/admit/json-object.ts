import { isUtf8 } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import type { Member } from '../../shared/json-members.ts';
import { JsonGrammar } from './json-grammar.ts';

/** Bytes that are read before other calls get their turn: some milliseconds. */
const SLICE_BYTES = 128 * 1024;

/** Bytes of a member's name as written that are looked at: room for a wanted one with every character escaped. */
const NAME_BYTES = 128;

/** Bytes of a wanted value that are kept. */
const VALUE_BYTES = 256;

/** Bytes of white space that may stand before the object. */
const LEADING_BYTES = 4_096;

/** What a JSON object says of a few of its outermost members; nothing of the rest is kept. */
export interface ReadObject {
  readonly isEmpty: boolean;
  /** Each occurrence of a wanted name, in order. */
  readonly members: readonly Member[];
  /** Whether a name differs from a wanted one in case alone, which some readers take for the same. */
  readonly hasNamesake: boolean;
}

/**
 * Reads a JSON object in UTF-8 without a byte-order mark, in slices between which other work goes on. Undefined
 * where the text is anything else.
 */
export async function readObject(body: Buffer, wanted: readonly string[]): Promise<ReadObject | undefined> {
  if (!isUtf8(body)) return undefined;
  const members = new Members(body, wanted);
  const grammar = new JsonGrammar(body, members);
  for (;;) {
    const progress = grammar.step(SLICE_BYTES);
    if (progress === 'invalid') return undefined;
    if (progress === 'whole') break;
    await setImmediate();
  }
  return firstByte(body) === '{' ? members : undefined;
}

const firstByte = (body: Buffer): string =>
  /[^ \t\r\n]/.exec(body.toString('latin1', 0, LEADING_BYTES))?.[0] ?? '';

class Members implements ReadObject {
  readonly members: Member[] = [];
  isEmpty = true;
  hasNamesake = false;
  readonly #body: Buffer;
  readonly #wanted: ReadonlySet<string>;
  readonly #folded: ReadonlySet<string>;
  #name = '';

  constructor(body: Buffer, wanted: readonly string[]) {
    this.#body = body;
    this.#wanted = new Set(wanted);
    this.#folded = new Set(wanted.map((name) => name.toLowerCase()));
  }

  name(start: number, end: number): void {
    this.isEmpty = false;
    this.#name = '';
    if (end - start > NAME_BYTES) return;
    this.#name = nameOf(this.#body.toString('utf8', start + 1, end - 1));
    if (!this.#wanted.has(this.#name) && this.#folded.has(this.#name.toLowerCase())) this.hasNamesake = true;
  }

  value(start: number, end: number): void {
    if (!this.#wanted.has(this.#name)) return;
    const text = end - start <= VALUE_BYTES ? this.#body.toString('utf8', start, end) : undefined;
    this.members.push({ name: this.#name, start, end, text });
  }
}

/** A member's name with its escapes resolved: `mod\u0065l` is `model` too. */
function nameOf(written: string): string {
  if (!written.includes('\\')) return written;
  const name: unknown = JSON.parse(`"${written}"`);
  return typeof name === 'string' ? name : '';
}
