import { BUNDLE_LIMITS } from '../bundle.ts';
import type { Faults } from './report.ts';

/** A file of a bundle. */
export interface NamedFile {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface Line {
  /** 1-based. */
  readonly number: number;
  /** Where it begins in the file, in bytes. */
  readonly start: number;
  readonly text: string;
}

const NEWLINE = 0x0a;

/** Not lenient, and a byte-order mark is no white space. */
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The text of bytes, or undefined where they are not UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** The lines of a file, each of which ends with a newline. What is no line is a fault, and the next is read. */
export function* linesOf({ name, bytes }: NamedFile, faults: Faults): Generator<Line> {
  let number = 0;
  for (let start = 0; start < bytes.length; ) {
    number += 1;
    if (number > BUNDLE_LIMITS.lines) {
      faults.add('malformed', `${name} has more than ${BUNDLE_LIMITS.lines} lines, which are not read`);
      return;
    }
    const newline = bytes.indexOf(NEWLINE, start);
    if (newline === -1) faults.add('malformed', `${name}: the last line is cut off`);
    const end = newline === -1 ? bytes.length : newline;
    const text = end - start > BUNDLE_LIMITS.lineBytes ? undefined : textOf(bytes.subarray(start, end));
    if (text === undefined) faults.add('malformed', `${name} line ${number}: is too long or not UTF-8`);
    else yield { number, start, text };
    start = end + 1;
  }
}

/** A line that was read before, by where it begins. */
export function lineAt({ bytes }: NamedFile, start: number): string {
  const newline = bytes.indexOf(NEWLINE, start);
  return utf8.decode(bytes.subarray(start, newline === -1 ? bytes.length : newline));
}

/**
 * The value of a JSON text that is written the one way in which JSON.stringify writes it, so that no member can
 * stand twice and no two readers can differ. Undefined for any other text.
 */
export function strictJson(text: string, indent = 0): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value, null, indent) === text ? value : undefined;
  } catch {
    // No JSON, or nested deeper than the stack.
    return undefined;
  }
}
