const LF = 0x0a;
const CR = 0x0d;

/**
 * Bytes of one event that are held and read: room for the whole answer that a last event repeats. A longer
 * one, such as an image, passes through unread.
 */
const EVENT_BYTES = 4 * 1024 * 1024;

/** One event of a stream: its name, `message` where it has none, and its data lines joined. */
export interface StreamEvent {
  readonly name: string;
  /** Undefined where the event is too long to be held. */
  readonly data: string | undefined;
}

/** A run of bytes of the stream exactly as they came, and the event that it completes. */
export interface Segment {
  readonly bytes: Buffer;
  readonly event: StreamEvent | undefined;
  /** The bytes end inside an event that is too long to be held. */
  readonly torn?: true;
}

/**
 * Cuts a `text/event-stream` (WHATWG HTML, section 9.2.6) into segments that end where an event ends, so that
 * a stream that breaks can be closed with an event of our own. A keep-alive comment is a segment too. Line
 * ends are CR LF, LF or CR and nothing else; pieces may be cut anywhere, also inside a character.
 */
export class EventStreamReader {
  readonly #eventBytes: number;
  /** Bytes since the last segment. */
  #open: Buffer[] = [];
  #openBytes = 0;
  /** Bytes of the line being read. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #data: string[] = [];
  #name = '';
  /** Bytes of the event being read have been given out, since it is too long. */
  #torn = false;
  #afterCarriageReturn = false;
  #atStart = true;

  constructor(eventBytes: number = EVENT_BYTES) {
    this.#eventBytes = eventBytes;
  }

  /** Bytes that arrived and belong to no segment yet. */
  get openBytes(): number {
    return this.#openBytes;
  }

  push(chunk: Buffer): Segment[] {
    const segments: Segment[] = [];
    let segmentStart = 0;
    let lineStart = this.#afterCarriageReturn && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#afterCarriageReturn = chunk.at(-1) === CR;
    for (let index = lineStart; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte !== LF && byte !== CR) continue;
      const line = this.#endLine(chunk.subarray(lineStart, index));
      if (byte === CR && chunk[index + 1] === LF) index += 1;
      lineStart = index + 1;
      if (!this.#completes(line)) continue;
      segments.push(this.#segment(chunk.subarray(segmentStart, lineStart)));
      segmentStart = lineStart;
    }
    this.#carry(chunk, segmentStart, lineStart);
    if (this.#openBytes > this.#eventBytes) segments.push(this.#tear());
    return segments;
  }

  /** What is left when the stream ends: some servers leave out the last blank line. */
  finish(): Segment | undefined {
    if (this.#openBytes === 0) return undefined;
    this.#field(this.#endLine(Buffer.alloc(0)));
    return this.#segment(Buffer.alloc(0));
  }

  /** Whether a line ends an event, or is a comment between two. */
  #completes(line: string | undefined): boolean {
    if (line === '') return true;
    if (line?.startsWith(':')) return this.#data.length === 0 && this.#name === '' && !this.#torn;
    this.#field(line);
    return false;
  }

  #field(line: string | undefined): void {
    if (line === undefined) return;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data' && !this.#torn) this.#data.push(value);
    if (field === 'event') this.#name = value;
  }

  #segment(tail: Buffer): Segment {
    const bytes = this.#takeOpen(tail);
    const nothing = this.#data.length === 0 && this.#name === '' && !this.#torn;
    const data = this.#torn ? undefined : this.#data.join('\n');
    const event = nothing ? undefined : { name: this.#name || 'message', data };
    this.#data = [];
    this.#name = '';
    this.#torn = false;
    return { bytes, event };
  }

  #tear(): Segment {
    this.#torn = true;
    this.#data = [];
    return { bytes: this.#takeOpen(Buffer.alloc(0)), event: undefined, torn: true };
  }

  #takeOpen(tail: Buffer): Buffer {
    const bytes = this.#open.length === 0 ? tail : Buffer.concat([...this.#open, tail]);
    this.#open = [];
    this.#openBytes = 0;
    return bytes;
  }

  /** The text of the line that ends with `tail`, or undefined where it is too long to be held. */
  #endLine(tail: Buffer): string | undefined {
    const held = this.#lineBytes <= this.#eventBytes;
    const text = held ? Buffer.concat([...this.#line, tail]).toString('utf8') : undefined;
    this.#line = [];
    this.#lineBytes = 0;
    const first = this.#atStart;
    this.#atStart = false;
    return first && text?.startsWith('\ufeff') ? text.slice(1) : text;
  }

  #carry(chunk: Buffer, segmentStart: number, lineStart: number): void {
    if (segmentStart < chunk.length) {
      this.#open.push(chunk.subarray(segmentStart));
      this.#openBytes += chunk.length - segmentStart;
    }
    if (lineStart < chunk.length) {
      this.#lineBytes += chunk.length - lineStart;
      if (this.#lineBytes <= this.#eventBytes) this.#line.push(chunk.subarray(lineStart));
      else this.#line = [];
    }
  }
}
