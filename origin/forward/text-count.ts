const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const UNICODE = 0x75;

/** Members of the request whose names and texts a model reads. */
const COUNTED: ReadonlySet<string> = new Set(['system', 'messages', 'tools']);

/** Characters of a name or text that is compared with known words at most. */
const WORD_BYTES = 16;

/** What an object has shown of being a base64 block: `{"type":"base64","data":"…"}`. */
const TYPED = 1;
const FILLED = 2;

/** What has been counted inside of one open object or list. */
interface Level {
  readonly isObject: boolean;
  bytes: number;
  blobs: number;
  marks: number;
}

/** Counts the bytes of names and texts of a checked JSON text, in as many steps as the caller likes. */
export class TextCount {
  readonly #text: Buffer;
  readonly #levels: Level[] = [];
  #counted: Level = level(false);
  #at = 0;
  /** Where the string being read begins, -1 outside of one; and its bytes once its escapes are resolved. */
  #start = -1;
  #length = 0;
  #isName = false;
  /** The last name, where it is short. */
  #name = '';
  /** Inside of a member that counts. */
  #counts = false;

  constructor(text: Buffer) {
    this.#text = text;
  }

  get bytes(): number {
    return this.#counted.bytes;
  }

  get blobs(): number {
    return this.#counted.blobs;
  }

  /** Reads about `bytes` bytes on; true once the text has come to its end. */
  step(bytes: number): boolean {
    const until = Math.min(this.#at + bytes, this.#text.length);
    while (this.#at < until) {
      if (this.#start >= 0) this.#inString(until);
      else this.#structure(this.#text[this.#at] ?? 0);
    }
    return this.#at >= this.#text.length;
  }

  #inString(until: number): void {
    const text = this.#text;
    while (this.#at < until) {
      const byte = text[this.#at];
      if (byte === QUOTE) {
        this.#stringEnded();
        return;
      }
      const isEscape = byte === BACKSLASH;
      const isUnicode = isEscape && text[this.#at + 1] === UNICODE;
      this.#length += isUnicode ? bytesOf(text.toString('latin1', this.#at + 2, this.#at + 6)) : 1;
      this.#at += isUnicode ? 6 : isEscape ? 2 : 1;
    }
  }

  #stringEnded(): void {
    const isShort = this.#at - this.#start <= WORD_BYTES;
    const word = isShort ? this.#text.toString('latin1', this.#start + 1, this.#at) : '';
    const here = this.#levels.at(-1);
    if (this.#isName) {
      this.#name = word;
      if (this.#levels.length === 1) this.#counts = COUNTED.has(word);
    } else if (here?.isObject) {
      if (this.#name === 'type' && word === 'base64') here.marks |= TYPED;
      if (this.#name === 'data') here.marks |= FILLED;
    }
    // The names of the counted members themselves are no part of what the model reads.
    if (this.#counts && here && !(this.#isName && this.#levels.length === 1)) here.bytes += this.#length;
    this.#isName = false;
    this.#start = -1;
    this.#at += 1;
  }

  #structure(byte: number): void {
    switch (byte) {
      case QUOTE:
        this.#start = this.#at;
        this.#length = 0;
        break;
      case OPEN_OBJECT:
      case OPEN_ARRAY:
        this.#levels.push(level(byte === OPEN_OBJECT));
        this.#isName = byte === OPEN_OBJECT;
        break;
      case CLOSE_OBJECT:
      case CLOSE_ARRAY:
        this.#close();
        break;
      case COMMA:
        this.#isName = this.#levels.at(-1)?.isObject === true;
        break;
    }
    this.#at += 1;
  }

  #close(): void {
    const closed = this.#levels.pop();
    const above = this.#levels.at(-1) ?? this.#counted;
    if (closed === undefined) return;
    this.#isName = false;
    if (this.#counts && closed.marks === (TYPED | FILLED)) above.blobs += 1;
    else {
      above.bytes += closed.bytes;
      above.blobs += closed.blobs;
    }
  }
}

const level = (isObject: boolean): Level => ({ isObject, bytes: 0, blobs: 0, marks: 0 });

/** Bytes in UTF-8 of a code unit written as four hexadecimal digits; half of a pair is half of four. */
function bytesOf(hex: string): number {
  const unit = Number.parseInt(hex, 16);
  if (unit < 0x80) return 1;
  return unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 2 : 3;
}
