/** Distinct values that one answer's body is believed to hold at most; honest ones hold one. */
const VALUES_MAX = 8;

/** Characters of a value at most; no region's name is as long, and what is longer is none. */
const VALUE_CHARS = 64;

/** Stands for a value that is there but is not text. */
const NO_TEXT = '';

/** Collects what an answer's body says of where it was made, at one path of its JSON, as it passes. */
export class BodyRegions {
  /** Distinct, in the order in which they came. */
  readonly values: string[] = [];
  /** The path's first member, in the outermost object. */
  readonly member: string;
  readonly #path: readonly string[];
  readonly #last: string;

  constructor(path: readonly string[]) {
    this.#path = path;
    this.member = path[0] ?? '';
    this.#last = `"${path.at(-1) ?? ''}"`;
  }

  /** @param text JSON of the value of `member` */
  readMember(text: string): void {
    this.#take(at(parsed(text), this.#path.slice(1)));
  }

  /**
   * The data of one event: the path begins in its object, or in the `message` or `response` that it holds, as
   * the beginning and the end of Anthropic's and OpenAI's streams have it.
   */
  readEvent(data: string): void {
    // Nearly every event holds words alone, and is not worth being parsed for this.
    if (!data.includes(this.#last)) return;
    const event = parsed(data);
    for (const root of [[], ['message'], ['response']]) this.#take(at(event, [...root, ...this.#path]));
  }

  #take(value: unknown): void {
    if (value === undefined || value === null || this.values.length >= VALUES_MAX) return;
    const text = typeof value === 'string' && value.length <= VALUE_CHARS ? value : NO_TEXT;
    if (!this.values.includes(text)) this.values.push(text);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function at(value: unknown, path: readonly string[]): unknown {
  let here = value;
  for (const step of path) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, step)) return undefined;
    here = Object.getOwnPropertyDescriptor(here, step)?.value;
  }
  return here;
}

/** What the JSON of a whole answer says at a path. */
export function regionsIn(json: unknown, path: readonly string[] | undefined): readonly string[] {
  if (path === undefined) return [];
  const regions = new BodyRegions(path);
  regions.readEvent(JSON.stringify(json) ?? '');
  return regions.values;
}
