import type { Clock } from '../clock.ts';
import { type AnswerBody, NOTHING, type NoContent, noContent, type Piece } from './answer-body.ts';
import type { BodyRegions } from './body-regions.ts';
import type { ChunkSource } from './chunks.ts';
import type { Dialect } from './dialects/dialect.ts';
import { EventStreamReader, type Segment } from './event-stream.ts';
import { readOn } from './read-on.ts';
import { mergeUsage, NO_USAGE, type Usage } from './usage.ts';

/** How long after its finish reason a stream may stay open without its end, in ms. */
const GRACE_MS = 2_000;

export interface StreamSetup {
  /** Silence once content has begun, in ms. */
  readonly idleMs: number;
  readonly heldBackBytes: number;
  /** Reads where the stream says that it was made; missing where its endpoint does not say so in bodies. */
  readonly regions?: BodyRegions | undefined;
}

/**
 * An event stream: lifecycle events are held back until the first content, so that a failure before it is
 * still a failed attempt; after it each whole event is passed on at once, byte for byte as it came.
 */
export class EventBody implements AnswerBody {
  readonly #chunks: ChunkSource;
  readonly #dialect: Dialect;
  readonly #setup: StreamSetup;
  readonly #clock: Clock;
  readonly #reader = new EventStreamReader();
  #progress: 'lifecycle' | 'content' | 'finish' | 'terminator' = 'lifecycle';
  #finishedAt = 0;
  /** What has been passed on ends inside an event. */
  #torn = false;
  #usage: Usage = NO_USAGE;

  constructor(chunks: ChunkSource, dialect: Dialect, setup: StreamSetup, clock: Clock) {
    this.#chunks = chunks;
    this.#dialect = dialect;
    this.#setup = setup;
    this.#clock = clock;
  }

  async open(): Promise<Piece | NoContent> {
    const held: Buffer[] = [];
    let heldBytes = 0;
    for (;;) {
      const piece = await this.#step();
      if (this.#progress === 'lifecycle' && piece.end) return noContent(piece.end);
      held.push(piece.bytes);
      heldBytes += piece.bytes.length;
      const full = heldBytes + this.#reader.openBytes > this.#setup.heldBackBytes;
      if (full && this.#progress === 'lifecycle') this.#progress = 'content';
      if (this.#progress !== 'lifecycle') return { ...piece, bytes: Buffer.concat(held) };
    }
  }

  next(): Promise<Piece> {
    if (this.#progress !== 'finish') return this.#step(this.#setup.idleMs);
    // From the finish on, and not from the last byte: comments must not hold a caller for ever.
    return this.#step(Math.max(this.#finishedAt + GRACE_MS - this.#clock.monotonic(), 0));
  }

  async #step(withinMs?: number): Promise<Piece> {
    const chunk = await this.#chunks.next(withinMs);
    if (chunk.kind !== 'bytes') return this.#ended(chunk.kind);
    const piece = this.#read(this.#reader.push(chunk.bytes));
    if (piece.end && this.#setup.regions) await this.#hearOut(this.#setup.regions);
    return piece;
  }

  /** What a stream says of its place behind its own end counts too: nothing of that end goes out before. */
  async #hearOut(regions: BodyRegions): Promise<void> {
    const left = await readOn(this.#chunks, this.#clock, (bytes) => this.#listen(this.#reader.push(bytes)));
    if (left === 'more') regions.unreadable();
    this.#listen([this.#reader.finish()]);
  }

  #listen(segments: readonly (Segment | undefined)[]): void {
    for (const one of segments) if (one?.event || one?.torn) this.#setup.regions?.readEvent(one.event?.data);
  }

  #read(segments: readonly Segment[]): Piece {
    const passed: Buffer[] = [];
    this.#listen(segments);
    for (const segment of segments) {
      passed.push(segment.bytes);
      this.#torn = segment.torn === true;
      if (this.#torn) this.#progress = 'content';
      const end = this.#endOf(segment);
      // Nothing after the end is passed on, least of all a normal terminator after an error event.
      if (end) return { bytes: Buffer.concat(passed), end };
    }
    return { bytes: passed.length === 1 ? (passed[0] ?? NOTHING) : Buffer.concat(passed) };
  }

  #endOf({ event }: Segment): Piece['end'] {
    if (event === undefined) return undefined;
    const meaning = this.#dialect.read(event);
    this.#usage = mergeUsage(this.#usage, meaning.usage);
    switch (meaning.kind) {
      case 'lifecycle':
        return undefined;
      case 'content':
        this.#progress = 'content';
        return undefined;
      case 'finish':
        this.#progress = 'finish';
        this.#finishedAt = this.#clock.monotonic();
        return undefined;
      case 'error':
        return { kind: 'interrupted', told: true, ...(meaning.verdict && { verdict: meaning.verdict }) };
      case 'terminator':
        if (this.#progress === 'lifecycle' && meaning.bare === true)
          return { kind: 'interrupted', told: false };
        this.#progress = 'terminator';
        return { kind: 'completed' };
    }
  }

  #ended(how: 'end' | 'cut' | 'silent'): Piece {
    const rest = how === 'end' ? this.#reader.finish() : undefined;
    const last = rest ? this.#read([rest]) : { bytes: NOTHING };
    if (last.end) return last;
    if (this.#progress === 'finish') return { bytes: this.#closed(last.bytes), end: { kind: 'completed' } };
    const unmarked = how === 'end' && !this.#dialect.endIsMarked && this.#progress === 'content';
    if (unmarked) return { bytes: last.bytes, end: { kind: 'completed' } };
    // An event that the endpoint left unfinished is dropped, or closed where its beginning has gone out.
    return { bytes: this.#torn ? Buffer.from('\n\n') : NOTHING, end: { kind: 'interrupted', told: false } };
  }

  /** A stream whose content is whole gets its API's own end where the endpoint left it out. */
  #closed(last: Buffer): Buffer {
    const blank = last.length > 0 || this.#torn ? '\n\n' : '';
    return Buffer.concat([last, Buffer.from(`${blank}${this.#dialect.terminator}`)]);
  }

  get usage(): Usage {
    return this.#usage;
  }

  get regions(): readonly string[] {
    return this.#setup.regions?.values ?? [];
  }

  close(): void {
    if (this.#progress === 'terminator') void this.#chunks.drain();
    else this.#chunks.close();
  }
}
