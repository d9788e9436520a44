import { MemberScanner } from '../../shared/json-members.ts';

/** Distinct values that one answer's body is believed to hold at most; honest ones hold one. */
const VALUES_MAX = 8;

/** Bytes of a value, as it is written, at most; no region's name is as long, and what is longer is none. */
const VALUE_BYTES = 512;

/** Stands for something that is there and cannot be read as text. */
const UNREADABLE = '';

/** Members of an event that can hold the answer itself, as the beginning and the end of streams have it. */
const HOLDERS = ['message', 'response'];

/**
 * Collects what an answer's body says of where it was made, at some paths of its JSON, as it passes. What is there
 * and cannot be read counts as a value that names no place.
 */
export class BodyRegions {
  /** Distinct, in the order in which they came. */
  readonly values: string[] = [];
  /** The first member of each path, in the outermost object. */
  readonly members: readonly string[];
  readonly #paths: readonly (readonly string[])[];

  constructor(paths: readonly (readonly string[])[]) {
    this.#paths = paths;
    this.members = [...new Set(paths.map(([first = '']) => first))];
  }

  /** @param json the value of an outermost member; undefined where it was too long to be kept */
  readMember(name: string, json: Buffer | undefined): void {
    for (const [first, ...rest] of this.#paths) {
      if (first !== name) continue;
      if (json === undefined) this.unreadable();
      else this.#readAt(json, rest);
    }
  }

  /** The data of one event; undefined where it was too long to be held. */
  readEvent(data: string | undefined): void {
    if (data === undefined) this.unreadable();
    else if (this.#isWorthwhile(data)) this.#readObject(Buffer.from(data), HOLDERS);
  }

  unreadable(): void {
    this.#take(UNREADABLE);
  }

  /** Nearly every event holds words alone, in which no path's last member stands, spelt out or in escapes. */
  #isWorthwhile(data: string): boolean {
    if (!/^\s*\{/.test(data)) return false;
    return data.includes('\\u') || this.#paths.some((path) => data.includes(`"${path.at(-1) ?? ''}"`));
  }

  #readObject(json: Buffer, holders: readonly string[]): void {
    for (const [name, value] of this.#membersOf(json, [...this.members, ...holders])) {
      this.readMember(name, value);
      if (holders.includes(name) && isObject(value)) this.#readObject(value, []);
    }
  }

  /** Every occurrence of a member counts, as readers differ on which of several they take. */
  #readAt(json: Buffer, [first, ...rest]: readonly string[]): void {
    if (first === undefined) this.#take(textOf(json));
    else if (isObject(json)) {
      for (const [, value] of this.#membersOf(json, [first])) this.#readAt(value, rest);
    } else if (!isNull(json)) this.unreadable();
  }

  #membersOf(json: Buffer, names: readonly string[]): readonly (readonly [string, Buffer])[] {
    const scanner = new MemberScanner(names, 0);
    scanner.push(json);
    if (scanner.isOpen) this.unreadable();
    return scanner.found.map(({ name, start, end }) => [name, json.subarray(start, end)]);
  }

  #take(text: string | undefined): void {
    if (text === undefined || this.values.includes(text)) return;
    if (this.values.length < VALUES_MAX) this.values.push(text);
    else if (!this.values.includes(UNREADABLE)) this.values.push(UNREADABLE);
  }
}

const isObject = (json: Buffer): boolean => /^\s*\{/.test(json.toString('latin1', 0, VALUE_BYTES));
const isNull = (json: Buffer): boolean => json.length <= VALUE_BYTES && json.toString().trim() === 'null';

/** A string's text; undefined for `null`, by which nothing is said. */
function textOf(json: Buffer): string | undefined {
  if (isNull(json)) return undefined;
  if (json.length > VALUE_BYTES) return UNREADABLE;
  try {
    const value: unknown = JSON.parse(json.toString());
    return typeof value === 'string' ? value : UNREADABLE;
  } catch {
    return UNREADABLE;
  }
}

/** What the JSON of a whole answer says at some paths. */
export function regionsIn(json: unknown, paths: readonly (readonly string[])[]): readonly string[] {
  const regions = new BodyRegions(paths);
  regions.readEvent(JSON.stringify(json) ?? '');
  return regions.values;
}
