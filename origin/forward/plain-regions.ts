import { MemberScanner } from '../../shared/json-members.ts';
import type { ModelRoute } from '../../shared/routes.ts';
import type { Clock } from '../clock.ts';
import { BodyRegions } from './body-regions.ts';
import type { ChunkSource } from './chunks.ts';
import { readOn } from './read-on.ts';

/** Bytes of a member's value that are kept to be read at most. */
const MEMBER_BYTES = 65_536;

const OPEN = 0x7b;
/** White space of JSON, and the bytes of a mark of UTF-8 before it. */
const LEADING: ReadonlySet<number> = new Set([0x20, 0x09, 0x0a, 0x0d, 0xef, 0xbb, 0xbf]);

/** Routes whose answers may be sound or bare text, in which there is no room for evidence. */
const MAY_BE_MEDIA: ReadonlySet<ModelRoute['path']> = new Set([
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
]);

/** Whether an accepted answer of a route that is no stream is a JSON object, or not what it should be. */
export const answersInJson = (route: ModelRoute['path']): boolean => !MAY_BE_MEDIA.has(route);

/**
 * Reads what a plain answer says of where it was made, wherever it is cut and whatever type it gives itself: an
 * answer that calls its JSON something else has said it all the same.
 */
export class PlainRegions {
  readonly #regions: BodyRegions;
  readonly #scanner: MemberScanner;
  readonly #mustBeJson: boolean;
  #form: 'unknown' | 'object' | 'other' = 'unknown';

  /** @param mustBeJson whether an answer that is not an object in UTF-8 hides what it should say */
  constructor(regions: BodyRegions, mustBeJson: boolean) {
    this.#regions = regions;
    this.#scanner = new MemberScanner(regions.members, MEMBER_BYTES);
    this.#mustBeJson = mustBeJson;
  }

  get values(): readonly string[] {
    return this.#regions.values;
  }

  /** Whether more of the answer may say more of it. */
  get isOpen(): boolean {
    return this.#form !== 'other';
  }

  push(bytes: Buffer): void {
    if (this.#form === 'unknown') this.#begin(bytes);
    if (this.#form !== 'object') return;
    // No JSON in UTF-8 holds this byte, and in the other encodings names cannot be read here.
    if (bytes.includes(0)) this.#regions.unreadable();
    this.#scanner.push(bytes);
    for (const { name, text } of this.#scanner.found.splice(0)) {
      this.#regions.readMember(name, text === undefined ? undefined : Buffer.from(text));
    }
  }

  #begin(bytes: Buffer): void {
    const first = bytes.find((byte) => !LEADING.has(byte));
    if (first === undefined) return;
    this.#form = first === OPEN ? 'object' : 'other';
    if (this.#form === 'other' && this.#mustBeJson) this.#regions.unreadable();
  }

  /** The answer came to its end. */
  end(): void {
    if (this.#mustBeJson && this.#scanner.isOpen) this.#regions.unreadable();
  }

  /** No more of the answer is read, though there is more. */
  leave(): void {
    if (this.#form === 'object') this.#regions.unreadable();
  }
}

/** What a failure's body says of its place, which is all that it is read for; the rest is let run off. */
export async function regionsOfFailure(
  chunks: ChunkSource,
  clock: Clock,
  paths: readonly (readonly string[])[],
): Promise<readonly string[]> {
  const found = new BodyRegions(paths);
  if (paths.length > 0) {
    const regions = new PlainRegions(found, false);
    const left = await readOn(chunks, clock, (bytes) => regions.push(bytes));
    if (left === 'more') regions.leave();
  }
  void chunks.drain();
  return found.values;
}
