const LF = 0x0a;
const CR = 0x0d;

/** Bytes of one event that are kept for reading; a longer one passes through unread. */
const EVENT_BYTES = 1_048_576;

/** One event of a stream: its name (`message` where it has none) and its data lines joined. */
export interface StreamEvent {
  readonly name: string;
  readonly data: string;
}

/** A run of whole lines of the stream, byte for byte as they came, and the event that it completes. */
export interface Segment {
  readonly bytes: Buffer;
  readonly event: StreamEvent | undefined;
}

/**
 * Cuts a `text/event-stream` (WHATWG HTML, section 9.2.6) into segments that end where an event ends, so that
 * a stream that breaks can be closed with an event of our own. A keep-alive comment is a segment too. Line
 * ends are CR LF, LF or CR and nothing else; pieces may be cut anywhere, also inside a character.
 */
export class EventStreamReader {
  /** Bytes since the last segment. */
  #open: Buffer[] = [];
  #openBytes = 0;
  /** Bytes of the line being read. */
  #line: Buffer[] = [];
  #lineBytes = 0;
  #data: string[] = [];
  #name = '';
  #afterCarriageReturn = false;
  #atStart = true;

  /** Bytes that arrived and belong to no whole event yet. */
  get openBytes(): number {
    return this.#openBytes;
  }

  push(chunk: Buffer): Segment[] {
    const segments: Segment[] = [];
    let segmentStart = 0;
    let lineStart = 0;
    for (let index = 0; index < chunk.length; index += 1) {
      const byte = chunk[index];
      if (byte === LF && this.#afterCarriageReturn) {
        this.#afterCarriageReturn = false;
        lineStart = index + 1;
        continue;
      }
      this.#afterCarriageReturn = byte === CR;
      if (byte !== LF && byte !== CR) continue;
      const end = index + 1;
      const line = this.#endLine(chunk.subarray(lineStart, index));
      lineStart = end;
      if (!this.#completes(line)) continue;
      segments.push(this.#segment(chunk.subarray(segmentStart, end)));
      segmentStart = end;
    }
    this.#carry(chunk, segmentStart, lineStart);
    return segments;
  }

  /** What is left when the stream ends: some servers leave out the last blank line. */
  finish(): Segment | undefined {
    if (this.#openBytes === 0) return undefined;
    this.#field(this.#endLine(Buffer.alloc(0)));
    return this.#segment(Buffer.alloc(0));
  }

  #completes(line: string | undefined): boolean {
    if (line === '') return true;
    if (line?.startsWith(':')) return this.#data.length === 0 && this.#name === '';
    this.#field(line);
    return false;
  }

  #field(line: string | undefined): void {
    if (line === undefined) return;
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (field === 'data') this.#data.push(value);
    if (field === 'event') this.#name = value;
  }

  #segment(tail: Buffer): Segment {
    const bytes = this.#open.length === 0 ? tail : Buffer.concat([...this.#open, tail]);
    const event =
      this.#data.length === 0 && this.#name === ''
        ? undefined
        : { name: this.#name || 'message', data: this.#data.join('\n') };
    this.#open = [];
    this.#openBytes = 0;
    this.#data = [];
    this.#name = '';
    return { bytes, event };
  }

  #endLine(tail: Buffer): string | undefined {
    const whole = this.#lineBytes <= EVENT_BYTES;
    const text = whole ? Buffer.concat([...this.#line, tail]).toString('utf8') : undefined;
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
      if (this.#lineBytes <= EVENT_BYTES) this.#line.push(chunk.subarray(lineStart));
      else this.#line = [];
    }
  }

  /** Hands out the open bytes of an event that has grown too long to be held; it is not read. */
  overflow(): Buffer | undefined {
    if (this.#openBytes <= EVENT_BYTES) return undefined;
    const bytes = Buffer.concat(this.#open);
    this.#open = [];
    this.#openBytes = 0;
    this.#data = [];
    this.#name = '';
    return bytes;
  }
}
