import { MemberScanner } from '../../shared/json-members.ts';
import { type AnswerBody, NOTHING, type NoContent, type Piece } from './answer-body.ts';
import type { Chunk, ChunkSource } from './chunks.ts';
import { mergeUsage, NO_USAGE, type Usage } from './usage.ts';

/** Bytes of a `usage` object at most. */
const USAGE_BYTES = 65_536;

export interface PlainSetup {
  readonly json: boolean;
  /** Silence once the body has begun, in ms. */
  readonly idleMs: number;
}

/** A JSON or binary answer: passed on piece by piece, its `usage` read in passing. */
export class PlainBody implements AnswerBody {
  readonly #chunks: ChunkSource;
  readonly #idleMs: number;
  readonly #scanner: MemberScanner | undefined;

  constructor(chunks: ChunkSource, { json, idleMs }: PlainSetup) {
    this.#chunks = chunks;
    this.#idleMs = idleMs;
    this.#scanner = json ? new MemberScanner(['usage'], USAGE_BYTES) : undefined;
  }

  async open(): Promise<Piece | NoContent> {
    const piece = this.#pieceOf(await this.#chunks.next());
    return piece.end?.kind === 'interrupted' ? { why: 'the connection broke before the answer' } : piece;
  }

  async next(): Promise<Piece> {
    return this.#pieceOf(await this.#chunks.next(this.#idleMs));
  }

  #pieceOf(chunk: Chunk): Piece {
    switch (chunk.kind) {
      case 'bytes':
        this.#scanner?.push(chunk.bytes);
        return { bytes: chunk.bytes };
      case 'end':
        return { bytes: NOTHING, end: { kind: 'completed' } };
      case 'cut':
      case 'silent':
        return { bytes: NOTHING, end: { kind: 'interrupted', told: false } };
    }
  }

  get usage(): Usage {
    const text = this.#scanner?.found.at(-1)?.text;
    if (text === undefined) return NO_USAGE;
    try {
      return mergeUsage(NO_USAGE, JSON.parse(text));
    } catch {
      return NO_USAGE;
    }
  }

  close(): void {
    this.#chunks.close();
  }
}
