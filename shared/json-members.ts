const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = new Set([0x7b, 0x5b]);
const CLOSE = new Set([0x7d, 0x5d]);
const SPACE = new Set([0x20, 0x09, 0x0a, 0x0d]);

/**
 * Longest member name, in bytes as written, that is compared with the wanted ones: room for one of 64 characters
 * of which each is escaped, so that no wanted name can be written past it.
 */
const NAME_BYTES = 400;

/** One member of the outermost object: `start` and `end` are byte offsets of its value, white space excluded. */
export interface Member {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** The value as written, or undefined where it is longer than the scanner was told to keep. */
  readonly text: string | undefined;
}

/**
 * Finds members of the outermost object of a JSON text that arrives in pieces, without parsing or holding
 * the rest, so that a value can be replaced or read while all other bytes stay as they were sent. It assumes
 * well-formed JSON and never throws: of anything else it finds what it can.
 */
export class MemberScanner {
  readonly found: Member[] = [];
  readonly #wanted: ReadonlySet<string>;
  readonly #keepBytes: number;
  #offset = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;
  #place: 'before' | 'name' | 'after_name' | 'value' = 'before';
  /** Bytes of the name or the wanted value being read; undefined where they are not wanted or too many. */
  #kept: number[] | undefined;
  #name = '';
  #start = -1;
  #end = -1;

  /** @param keepBytes how many bytes of a wanted value are kept at most */
  constructor(wanted: readonly string[], keepBytes: number) {
    this.#wanted = new Set(wanted);
    this.#keepBytes = keepBytes;
  }

  /** Whether the text has begun an object or list, or a string, that has not come to its end. */
  get isOpen(): boolean {
    return this.#depth > 0 || this.#inString;
  }

  push(chunk: Buffer): void {
    let index = 0;
    while (index < chunk.length) {
      index = this.#inString ? this.#string(chunk, index) : this.#structure(chunk, index);
    }
    this.#offset += chunk.length;
  }

  /** Reads on inside a string, in one plain loop whose time no choice of quotes and backslashes can raise. */
  #string(chunk: Buffer, from: number): number {
    let escaped = this.#escaped;
    let open = true;
    let index = from;
    for (; open && index < chunk.length; index += 1) {
      const byte = chunk[index];
      open = escaped || byte !== QUOTE;
      escaped = !escaped && byte === BACKSLASH;
    }
    this.#escaped = escaped;
    this.#inString = open;
    this.#keep(chunk, from, index);
    if (!open) this.#stringEnded(index);
    return index;
  }

  #stringEnded(end: number): void {
    if (this.#depth === 1 && this.#place === 'name') {
      this.#name = nameOf(this.#kept);
      this.#kept = undefined;
      this.#place = 'after_name';
    } else if (this.#place === 'value') {
      this.#end = this.#offset + end;
    }
  }

  #structure(chunk: Buffer, index: number): number {
    const byte = chunk[index] ?? 0;
    if (SPACE.has(byte)) {
      if (this.#depth > 1) this.#keep(chunk, index, index + 1);
      return index + 1;
    }
    if (byte === COLON && this.#place === 'after_name') {
      this.#place = 'value';
      this.#start = -1;
      this.#kept = this.#wanted.has(this.#name) ? [] : undefined;
      return index + 1;
    }
    if (this.#depth === 1 && (byte === COMMA || CLOSE.has(byte))) this.#memberEnded();
    if (CLOSE.has(byte)) this.#depth -= 1;
    const valueBegins = this.#depth === 1 && this.#place === 'value' && this.#start === -1;
    if (valueBegins) this.#start = this.#offset + index;
    if (byte === QUOTE) {
      this.#inString = true;
      if (this.#depth === 1 && this.#place === 'before') {
        this.#place = 'name';
        this.#kept = [];
      }
    }
    if (OPEN.has(byte)) this.#depth += 1;
    if (this.#place === 'value') this.#end = this.#offset + index + 1;
    this.#keep(chunk, index, index + 1);
    return index + 1;
  }

  #memberEnded(): void {
    if (this.#place === 'value' && this.#wanted.has(this.#name) && this.#start !== -1) {
      const text = this.#kept && Buffer.from(this.#kept).toString('utf8');
      this.found.push({ name: this.#name, start: this.#start, end: this.#end, text });
    }
    this.#kept = undefined;
    this.#place = 'before';
  }

  #keep(chunk: Buffer, from: number, to: number): void {
    if (this.#kept === undefined) return;
    const limit = this.#place === 'name' ? NAME_BYTES : this.#keepBytes;
    if (this.#kept.length + to - from > limit) this.#kept = undefined;
    else for (let index = from; index < to; index += 1) this.#kept.push(chunk[index] ?? 0);
  }
}

/** A name with its escapes resolved: `"mod\u0065l"` is `model` too. */
function nameOf(written: readonly number[] = []): string {
  try {
    return String(JSON.parse(Buffer.from(written).toString('utf8')));
  } catch {
    return '';
  }
}
