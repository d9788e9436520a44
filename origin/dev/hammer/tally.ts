import type { Made } from './calls.ts';

/** Faults that are listed at most; the rest are counted. */
const LISTED = 100;

/** What was done, and what was wrong. */
export class Tally {
  receipts = 0;
  proofs = 0;
  checkpoints = 0;
  consistencies = 0;
  readonly #calls = new Map<string, number>();
  readonly #faults: string[] = [];
  #more = 0;

  call({ kind, status }: Made): void {
    const line = `${kind} ${status}`;
    this.#calls.set(line, (this.#calls.get(line) ?? 0) + 1);
  }

  fault(words: string): void {
    if (this.#faults.length === LISTED) this.#more += 1;
    else this.#faults.push(words);
  }

  get calls(): number {
    return [...this.#calls.values()].reduce((sum, count) => sum + count, 0);
  }

  get ok(): boolean {
    return this.#faults.length === 0 && this.calls > 0;
  }

  text(seconds: number): string {
    return [
      `${this.calls} calls in ${Math.round(seconds)} s:`,
      ...[...this.#calls].sort().map(([line, count]) => `  ${line.padEnd(24)} ${count}`),
      `${this.receipts} receipts verified, the records of ${this.proofs} calls proven,`,
      `${this.checkpoints} checkpoints verified, ${this.consistencies} pairs of them consistent.`,
      ...this.#faults.map((words) => `FAULT  ${words}`),
      ...(this.#more > 0 ? [`FAULT  and ${this.#more} more`] : []),
      this.ok ? 'No fault.' : 'Something is wrong.',
      '',
    ].join('\n');
  }
}
