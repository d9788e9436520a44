import { MemberScanner } from '../../shared/json-members.ts';
import type { AnswerBody, NoContent, Piece } from './answer-body.ts';
import { NOTHING } from './answer-body.ts';
import type { Chunk, ChunkSource } from './chunks.ts';
import { mergeUsage, NO_USAGE, type Usage } from './usage.ts';

/** Bytes of a `usage` object at most. */
const USAGE_BYTES = 65_536;

export interface PlainTimes {
  readonly firstByteMs: number;
  readonly idleMs: number;
}

/** A JSON or binary answer: passed on piece by piece, its `usage` read in passing. */
export class PlainBody implements AnswerBody {
  readonly #chunks: ChunkSource;
  readonly #times: PlainTimes;
  readonly #scanner: MemberScanner | undefined;

  constructor(chunks: ChunkSource, json: boolean, times: PlainTimes) {
    this.#chunks = chunks;
    this.#times = times;
    this.#scanner = json ? new MemberScanner(['usage'], USAGE_BYTES) : undefined;
  }

  async open(): Promise<Piece | NoContent> {
    const chunk = await this.#chunks.next(this.#times.firstByteMs);
    if (chunk.kind === 'cut') return { why: 'the connection broke before the answer' };
    if (chunk.kind === 'silent')
      return { why: `no answer within ${this.#times.firstByteMs} ms (time_to_first_byte_ms)` };
    return this.#pieceOf(chunk);
  }

  async next(): Promise<Piece> {
    return this.#pieceOf(await this.#chunks.next(this.#times.idleMs));
  }

  #pieceOf(chunk: Chunk): Piece {
    switch (chunk.kind) {
      case 'bytes':
        this.#scanner?.push(chunk.bytes);
        return { bytes: chunk.bytes };
      case 'end':
        return { bytes: NOTHING, end: { kind: 'completed' } };
      case 'cut':
        return { bytes: NOTHING, end: { kind: 'interrupted', told: false, why: 'the connection broke' } };
      case 'silent':
        return { bytes: NOTHING, end: { kind: 'interrupted', told: false, why: 'the endpoint fell silent' } };
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

  get bytes(): number {
    return this.#chunks.bytes;
  }

  abort(): void {
    this.#chunks.abort();
  }
}
