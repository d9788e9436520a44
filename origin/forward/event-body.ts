import type { Clock } from '../clock.ts';
import { type AnswerBody, type Ending, NOTHING, type NoContent, type Piece } from './answer-body.ts';
import type { ChunkSource } from './chunks.ts';
import type { Dialect } from './dialect.ts';
import { EventStreamReader, type Segment } from './event-stream.ts';
import { mergeUsage, NO_USAGE, type Usage } from './usage.ts';

/** How long after the last content a stream may stay open without its end, in ms. */
const GRACE_MS = 2_000;

export interface StreamTimes {
  /** When the first content must be there, in ms since the epoch. */
  readonly firstTokenBy: number;
  readonly idleMs: number;
  readonly heldBackBytes: number;
}

/**
 * An event stream: lifecycle events are held back until the first content, so that a failure before it is
 * still a failed attempt; after it each whole event is passed on at once, byte for byte as it came.
 */
export class EventBody implements AnswerBody {
  readonly #chunks: ChunkSource;
  readonly #dialect: Dialect;
  readonly #times: StreamTimes;
  readonly #clock: Clock;
  readonly #reader = new EventStreamReader();
  #progress: 'lifecycle' | 'content' | 'finish' | 'terminator' = 'lifecycle';
  #usage: Usage = NO_USAGE;

  constructor(chunks: ChunkSource, dialect: Dialect, times: StreamTimes, clock: Clock) {
    this.#chunks = chunks;
    this.#dialect = dialect;
    this.#times = times;
    this.#clock = clock;
  }

  async open(): Promise<Piece | NoContent> {
    const held: Buffer[] = [];
    let heldBytes = 0;
    for (;;) {
      const piece = await this.#step(this.#times.firstTokenBy - this.#clock.now());
      if (this.#progress === 'lifecycle' && piece.end) return { why: this.#noContent(piece.end) };
      held.push(piece.bytes);
      heldBytes += piece.bytes.length;
      const full = heldBytes + this.#reader.openBytes > this.#times.heldBackBytes;
      if (this.#progress !== 'lifecycle' || full) return { ...piece, bytes: Buffer.concat(held) };
    }
  }

  next(): Promise<Piece> {
    const ending = this.#progress === 'finish' || this.#progress === 'terminator';
    return this.#step(ending ? GRACE_MS : this.#times.idleMs);
  }

  async #step(withinMs: number): Promise<Piece> {
    const chunk = await this.#chunks.next(Math.max(withinMs, 0));
    if (chunk.kind !== 'bytes') return this.#ended(chunk.kind);
    const piece = this.#read(this.#reader.push(chunk.bytes));
    const overflow = this.#reader.overflow();
    if (overflow === undefined) return piece;
    this.#progress = 'content';
    return { ...piece, bytes: Buffer.concat([piece.bytes, overflow]) };
  }

  #read(segments: readonly Segment[]): Piece {
    const bytes: Buffer[] = [];
    for (const segment of segments) {
      if (this.#progress === 'terminator') break;
      bytes.push(segment.bytes);
      if (segment.event === undefined) continue;
      const meaning = this.#dialect.read(segment.event);
      this.#usage = mergeUsage(this.#usage, meaning.usage);
      if (meaning.kind === 'error') return this.#failed(Buffer.concat(bytes));
      if (meaning.kind !== 'lifecycle') this.#progress = meaning.kind;
    }
    return { bytes: bytes.length === 1 ? (bytes[0] ?? NOTHING) : Buffer.concat(bytes) };
  }

  /** Nothing after an error event is passed on, least of all a normal terminator. */
  #failed(bytes: Buffer): Piece {
    this.#chunks.abort();
    return { bytes, end: { kind: 'interrupted', told: true, why: 'the endpoint sent an error event' } };
  }

  #ended(how: 'end' | 'cut' | 'silent'): Piece {
    const rest = how === 'end' ? this.#reader.finish() : undefined;
    const last = rest ? this.#read([rest]) : { bytes: NOTHING };
    if (last.end) return last;
    const whole = this.#progress === 'finish' || this.#progress === 'terminator';
    const unmarked = how === 'end' && !this.#dialect.endIsMarked && this.#progress === 'content';
    if (!whole && !unmarked) {
      const why = how === 'silent' ? 'the endpoint fell silent' : 'the stream ended before its end';
      return { bytes: NOTHING, end: { kind: 'interrupted', told: false, why } };
    }
    return { bytes: this.#closed(last.bytes), end: { kind: 'completed' } };
  }

  /** A stream whose content is whole gets its API's own end where the endpoint left it out. */
  #closed(last: Buffer): Buffer {
    if (this.#progress !== 'finish') return last;
    const blank = last.length > 0 ? '\n\n' : '';
    return Buffer.concat([last, Buffer.from(`${blank}${this.#dialect.terminator}`)]);
  }

  #noContent(end: Ending): string {
    if (end.kind === 'interrupted' && end.told) return 'its event stream began with an error event';
    if (this.#clock.now() < this.#times.firstTokenBy) return 'its event stream broke before any content';
    return 'its event stream had no content within the limit time_to_first_token_ms';
  }

  get usage(): Usage {
    return this.#usage;
  }

  get bytes(): number {
    return this.#chunks.bytes;
  }

  abort(): void {
    this.#chunks.abort();
  }
}
