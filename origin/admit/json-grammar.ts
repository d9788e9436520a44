const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

const UNICODE = 0x75;
const ESCAPES = new Set(Buffer.from('"\\/bfnrt'));
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]));
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const NUMBER_BYTES = new Uint8Array(256);
for (const byte of Buffer.from('+-.0123456789eE')) NUMBER_BYTES[byte] = 1;

/** Characters of one number at most; more digits than any reader keeps. */
const NUMBER_CHARS = 1_024;

/** Levels of nesting at most. */
export const DEPTH_MAX = 1_000_000;

type State = 'value' | 'value_or_end' | 'name' | 'name_or_end' | 'colon' | 'comma_or_end' | 'done';

/** Told where the members of the outermost object lie, in byte offsets, quotes of the name included. */
export interface MemberSink {
  name(start: number, end: number): void;
  value(start: number, end: number): void;
}

/**
 * Checks a JSON text (RFC 8259) that is held whole, in as many steps as the caller likes, without building
 * what it says: so a text made to be costly costs no more than its bytes. UTF-8 is the caller's to check.
 */
export class JsonGrammar {
  readonly #text: Buffer;
  readonly #sink: MemberSink;
  /** For each open level, whether it is an object. */
  #levels = new Uint8Array(1_024);
  #depth = 0;
  #state: State = 'value';
  #at = 0;
  /** Start of the string being read, -1 outside of one. */
  #string = -1;
  #valueStart = 0;

  constructor(text: Buffer, sink: MemberSink) {
    this.#text = text;
    this.#sink = sink;
  }

  /** Reads about `bytes` bytes on; `more` until the text has come to its end. */
  step(bytes: number): 'more' | 'whole' | 'invalid' {
    const until = Math.min(this.#at + bytes, this.#text.length);
    while (this.#at < until) {
      if (!(this.#string >= 0 ? this.#inString(until) : this.#token())) return 'invalid';
    }
    if (this.#at < this.#text.length) return 'more';
    if (this.#at > this.#text.length) return 'invalid';
    return this.#state === 'done' && this.#string < 0 ? 'whole' : 'invalid';
  }

  #inString(until: number): boolean {
    const text = this.#text;
    let at = this.#at;
    while (at < until) {
      const byte = text[at] ?? 0;
      if (byte < 0x20) return false;
      if (byte === QUOTE) {
        this.#at = at + 1;
        return this.#stringEnded();
      }
      const length = byte === BACKSLASH ? this.#escape(at) : 1;
      if (length === 0) return false;
      at += length;
    }
    this.#at = at;
    return true;
  }

  /** Bytes of the escape that begins here, 0 where it is none. */
  #escape(at: number): number {
    const kind = this.#text[at + 1] ?? 0;
    if (kind !== UNICODE) return ESCAPES.has(kind) ? 2 : 0;
    return /^[0-9a-fA-F]{4}$/.test(this.#text.toString('latin1', at + 2, at + 6)) ? 6 : 0;
  }

  #stringEnded(): boolean {
    const start = this.#string;
    this.#string = -1;
    if (this.#state !== 'name' && this.#state !== 'name_or_end') return this.#valueEnded();
    if (this.#depth === 1) this.#sink.name(start, this.#at);
    this.#state = 'colon';
    return true;
  }

  #token(): boolean {
    const byte = this.#text[this.#at] ?? 0;
    if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) {
      this.#at += 1;
      return true;
    }
    switch (this.#state) {
      case 'value_or_end':
        if (byte === CLOSE_ARRAY) return this.#close(0);
        return this.#value(byte);
      case 'value':
        return this.#value(byte);
      case 'name_or_end':
        if (byte === CLOSE_OBJECT) return this.#close(1);
        return byte === QUOTE && this.#openString();
      case 'name':
        return byte === QUOTE && this.#openString();
      case 'colon':
        this.#at += 1;
        this.#state = 'value';
        return byte === COLON;
      case 'comma_or_end':
        return this.#commaOrEnd(byte);
      case 'done':
        return false;
    }
  }

  #commaOrEnd(byte: number): boolean {
    const inObject = this.#levels[this.#depth - 1] === 1;
    if (byte === CLOSE_OBJECT || byte === CLOSE_ARRAY) return this.#close(byte === CLOSE_OBJECT ? 1 : 0);
    this.#at += 1;
    this.#state = inObject ? 'name' : 'value';
    return byte === COMMA;
  }

  #value(byte: number): boolean {
    if (this.#depth === 1) this.#valueStart = this.#at;
    if (byte === QUOTE) return this.#openString();
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return this.#open(byte === OPEN_OBJECT ? 1 : 0);
    const literal = LITERALS.get(byte);
    const length = literal ? this.#literal(literal) : this.#number();
    this.#at += length;
    return length > 0 && this.#valueEnded();
  }

  #literal(word: Buffer): number {
    return this.#text.subarray(this.#at, this.#at + word.length).equals(word) ? word.length : 0;
  }

  #number(): number {
    let end = this.#at;
    while (NUMBER_BYTES[this.#text[end] ?? 0] === 1 && end - this.#at < NUMBER_CHARS) end += 1;
    return NUMBER.test(this.#text.toString('latin1', this.#at, end)) ? end - this.#at : 0;
  }

  #openString(): boolean {
    this.#string = this.#at;
    this.#at += 1;
    return true;
  }

  #open(kind: 0 | 1): boolean {
    if (this.#depth === DEPTH_MAX) return false;
    if (this.#depth === this.#levels.length) {
      const wider = new Uint8Array(this.#levels.length * 2);
      wider.set(this.#levels);
      this.#levels = wider;
    }
    this.#levels[this.#depth] = kind;
    this.#depth += 1;
    this.#at += 1;
    this.#state = kind === 1 ? 'name_or_end' : 'value_or_end';
    return true;
  }

  #close(kind: 0 | 1): boolean {
    if (this.#levels[this.#depth - 1] !== kind) return false;
    this.#depth -= 1;
    this.#at += 1;
    return this.#valueEnded();
  }

  #valueEnded(): boolean {
    if (this.#depth === 1 && this.#levels[0] === 1) this.#sink.value(this.#valueStart, this.#at);
    this.#state = this.#depth === 0 ? 'done' : 'comma_or_end';
    return true;
  }
}
