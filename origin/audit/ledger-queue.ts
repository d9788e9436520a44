import type { LedgerEntry } from './ledger-entry.ts';

/** The records that wait for their group, in the order in which they will be written. */
export class LedgerQueue {
  readonly #max: number;
  readonly #newcomers = new Set<LedgerEntry>();
  #tried: LedgerEntry[] = [];
  /** How many of those tried before are to be given out one by one. */
  #alone = 0;

  /** `max`: most records that may wait. */
  constructor(max: number) {
    this.#max = max;
  }

  get size(): number {
    return this.#tried.length + this.#newcomers.size;
  }

  /** New calls and refusals, which anybody can send, must not take the places of the ends of calls under way. */
  hasRoomFor(entry: LedgerEntry): boolean {
    return this.size < (entry.row.pendingId === undefined ? this.#max / 2 : this.#max);
  }

  add(entry: LedgerEntry): void {
    this.#newcomers.add(entry);
  }

  withdraw(entry: LedgerEntry): void {
    this.#newcomers.delete(entry);
  }

  /** Puts records in front of all others. */
  putBack(entries: readonly LedgerEntry[]): void {
    this.#tried = [...entries, ...this.#tried];
  }

  /** Puts a group back, to be given out one by one. */
  putBackAlone(entries: readonly LedgerEntry[]): void {
    this.putBack(entries);
    this.#alone = entries.length;
  }

  /** The next group, `max` records at most. Empty where all of it has been withdrawn meanwhile. */
  take(max: number): LedgerEntry[] {
    const alone = this.#alone > 0;
    if (alone) this.#alone -= 1;
    const group = this.#tried
      .splice(0, alone ? 1 : max)
      .filter((entry) => !(entry.announces && entry.answered));
    if (alone) return group;
    for (const entry of this.#newcomers) {
      if (group.length >= max) break;
      this.#newcomers.delete(entry);
      group.push(entry);
    }
    return group;
  }

  /** Takes everything out. */
  empty(): LedgerEntry[] {
    const all = [...this.#tried, ...this.#newcomers];
    this.#tried = [];
    this.#alone = 0;
    this.#newcomers.clear();
    return all;
  }
}
