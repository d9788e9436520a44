import { MemberScanner } from '../../shared/json-members.ts';
import { type AnswerBody, NOTHING, type NoContent, type Piece } from './answer-body.ts';
import type { BodyRegions } from './body-regions.ts';
import type { Chunk, ChunkSource } from './chunks.ts';
import { mergeUsage, NO_USAGE, type Usage } from './usage.ts';

/** Bytes of a member's value that are kept to be read at most. */
const MEMBER_BYTES = 65_536;

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
  readonly regions?: BodyRegions | undefined;
}

/**
 * A JSON or binary answer: passed on piece by piece, its `usage` read in passing. Where it may hold evidence of
 * its region it is held back whole, as nothing of an answer from a wrong place may reach the caller.
 */
export class PlainBody implements AnswerBody {
  readonly #chunks: ChunkSource;
  readonly #idleMs: number;
  readonly #scanner: MemberScanner | undefined;
  readonly #regions: BodyRegions | undefined;
  /** How many of the scanner's finds have been looked at for a region. */
  #looked = 0;

  constructor(chunks: ChunkSource, { json, idleMs, regions }: PlainSetup) {
    this.#chunks = chunks;
    this.#idleMs = idleMs;
    this.#regions = json ? regions : undefined;
    const wanted = ['usage', ...(regions === undefined ? [] : [regions.member])];
    this.#scanner = json ? new MemberScanner(wanted, MEMBER_BYTES) : undefined;
  }

  async open(): Promise<Piece | NoContent> {
    let piece = this.#pieceOf(await this.#chunks.next());
    const held = [piece.bytes];
    let bytes = piece.bytes.length;
    while (this.#regions !== undefined && piece.end === undefined && bytes <= HELD_FOR_EVIDENCE_BYTES) {
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
        this.#lookForRegions();
        return { bytes: chunk.bytes };
      case 'end':
        return { bytes: NOTHING, end: { kind: 'completed' } };
      case 'cut':
      case 'silent':
        return { bytes: NOTHING, end: { kind: 'interrupted', told: false } };
    }
  }

  #lookForRegions(): void {
    const found = this.#scanner?.found ?? [];
    for (; this.#looked < found.length; this.#looked += 1) {
      const { name, text } = found[this.#looked] ?? {};
      if (name === this.#regions?.member && text !== undefined) this.#regions?.readMember(text);
    }
  }

  get usage(): Usage {
    const text = this.#scanner?.found.findLast(({ name }) => name === 'usage')?.text;
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
