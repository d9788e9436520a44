import { MemberScanner } from '../../shared/json-members.ts';
import { type AnswerBody, NOTHING, type NoContent, type Piece } from './answer-body.ts';
import type { Chunk, ChunkSource } from './chunks.ts';
import type { PlainRegions } from './plain-regions.ts';
import { mergeUsage, NO_USAGE, type Usage } from './usage.ts';

/** Bytes of `usage` that are kept to be read at most. */
const USAGE_BYTES = 65_536;

/**
 * Bytes of an answer that are held back until its evidence is known: far more than the longest answer in words.
 * What is longer goes out from there on, and its evidence is judged at its end.
 */
export const HELD_FOR_EVIDENCE_BYTES = 1024 * 1024;

export interface PlainSetup {
  readonly json: boolean;
  /** Silence once the body has begun, in ms. */
  readonly idleMs: number;
  /** Reads where the answer says that it was made; missing where its endpoint does not say so in bodies. */
  readonly regions?: PlainRegions | undefined;
}

/**
 * A JSON or binary answer: passed on piece by piece, its `usage` read in passing. Where it may hold evidence of
 * its region it is held back whole, as nothing of an answer from a wrong place may reach the caller.
 */
export class PlainBody implements AnswerBody {
  readonly #chunks: ChunkSource;
  readonly #idleMs: number;
  readonly #scanner: MemberScanner | undefined;
  readonly #regions: PlainRegions | undefined;

  constructor(chunks: ChunkSource, { json, idleMs, regions }: PlainSetup) {
    this.#chunks = chunks;
    this.#idleMs = idleMs;
    this.#regions = regions;
    this.#scanner = json ? new MemberScanner(['usage'], USAGE_BYTES) : undefined;
  }

  async open(): Promise<Piece | NoContent> {
    let piece = this.#pieceOf(await this.#chunks.next());
    const held = [piece.bytes];
    let bytes = piece.bytes.length;
    while (this.#regions?.isOpen && piece.end === undefined && bytes <= HELD_FOR_EVIDENCE_BYTES) {
      piece = await this.next();
      held.push(piece.bytes);
      bytes += piece.bytes.length;
    }
    if (piece.end?.kind === 'interrupted') return { why: 'the connection broke before the answer' };
    return held.length === 1 ? piece : { ...piece, bytes: Buffer.concat(held) };
  }

  async next(): Promise<Piece> {
    return this.#pieceOf(await this.#chunks.next(this.#idleMs));
  }

  #pieceOf(chunk: Chunk): Piece {
    switch (chunk.kind) {
      case 'bytes':
        this.#scanner?.push(chunk.bytes);
        this.#regions?.push(chunk.bytes);
        return { bytes: chunk.bytes };
      case 'end':
        this.#regions?.end();
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

  get regions(): readonly string[] {
    return this.#regions?.values ?? [];
  }

  close(): void {
    this.#chunks.close();
  }
}
