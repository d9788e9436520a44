import type { SignedHead } from '../../origin/audit/signed-head.ts';

/** A file with the checkpoint that was signed last, without a disk; its writes fail as a test orders. */
export class MemoryHead implements SignedHead {
  readonly place = 'eu.db.checkpoint';
  note: string | undefined;
  /** Every note that was handed in, also where the write failed. */
  readonly signed: string[] = [];
  /** Those that were in the file for a while. */
  readonly kept: string[] = [];
  readonly #faults: ('kept' | 'lost')[] = [];

  /** The next write that has no fault yet fails like this. */
  fail(note: 'kept' | 'lost'): void {
    this.#faults.push(note);
  }

  async read(): Promise<string | undefined> {
    return this.note;
  }

  async write(note: string): Promise<void> {
    const fault = this.#faults.shift();
    this.signed.push(note);
    if (fault !== 'lost') {
      this.note = note;
      this.kept.push(note);
    }
    if (fault !== undefined) throw new Error('ordered by the test');
  }
}
