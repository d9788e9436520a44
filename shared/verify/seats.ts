import { aboutOf, type ClaimedLine } from './records.ts';
import type { About, Faults } from './report.ts';
import type { ProvenLeaves } from './tree.ts';

/** Where a line belongs by its leaf: how it stands to the lines before it, and its index in the window. */
export type Seat =
  | { readonly kind: 'nowhere' }
  | { readonly kind: 'next' | 'behind' | 'taken'; readonly index: number };

const NOWHERE: Seat = { kind: 'nowhere' };

/** The places of a window, which lines take one by one, each in its own. */
export class Seats {
  readonly #window: ProvenLeaves;
  readonly #taken: Uint8Array;
  readonly #suspects: { readonly index: number; readonly about: About }[] = [];
  #byLeaf: ReadonlyMap<string, number> | undefined;
  #expected = 0;
  #last = -1;

  constructor(window: ProvenLeaves) {
    this.#window = window;
    this.#taken = new Uint8Array(window.count);
  }

  take(leaf: Uint8Array): Seat {
    const index = this.#indexOf(leaf);
    if (index === undefined) return NOWHERE;
    if (this.#taken[index] === 1) return { kind: 'taken', index };
    this.#taken[index] = 1;
    const kind = index < this.#last ? 'behind' : 'next';
    this.#last = index;
    this.#expected = index + 1;
    return { kind, index };
  }

  #indexOf(leaf: Uint8Array): number | undefined {
    const { leaves, count } = this.#window;
    if (this.#expected < count && leaves.at(this.#expected).equals(leaf)) return this.#expected;
    this.#byLeaf ??= indexed(this.#window);
    return this.#byLeaf.get(keyOf(leaf));
  }

  /** Keeps a line that belongs nowhere. Whether it replaces a record is known once all others have their places. */
  suspect(line: ClaimedLine): void {
    // Beyond what could be proven at all, which is a fault of its own, a line cannot be told from the right one.
    if (this.#expected < this.#window.count || this.#window.count === this.#window.wanted) {
      this.#suspects.push({ index: this.#expected, about: aboutOf(line) });
    }
    this.#expected += 1;
  }

  /** Names each record that was changed, invented or left out. */
  report(faults: Faults): void {
    const { first, count } = this.#window;
    const place = (index: number) => first + index;
    for (const { index, about } of this.#suspects) {
      if (index < count && this.#taken[index] === 0) {
        this.#taken[index] = 1;
        faults.add('changed', `it is not the record that stands in the log at place ${place(index)}`, {
          ...about,
          place: place(index),
        });
      } else faults.add('invented', 'the record does not stand in the log', about);
    }
    for (let index = 0; index < count; index += 1) {
      if (this.#taken[index] === 0) {
        faults.add('missing', `the record at place ${place(index)} of the log was left out`, {
          place: place(index),
        });
      }
    }
  }
}

function indexed({ leaves, count }: ProvenLeaves): ReadonlyMap<string, number> {
  const byLeaf = new Map<string, number>();
  for (let index = count - 1; index >= 0; index -= 1) byLeaf.set(keyOf(leaves.at(index)), index);
  return byLeaf;
}

const keyOf = (leaf: Uint8Array): string =>
  Buffer.from(leaf.buffer, leaf.byteOffset, leaf.byteLength).toString('latin1');
