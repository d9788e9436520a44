import { type ReceiptLine, receiptLineSchema } from '../bundle.ts';
import { lineAt, linesOf, type NamedFile, strictJson } from './lines.ts';
import type { Faults } from './report.ts';

/** The lines of `receipts.jsonl` by the record that each commits to. Each is parsed when it is asked for. */
export class ReceiptLines {
  readonly #file: NamedFile;
  readonly #starts = new Map<string, number>();
  /** How many there are. */
  readonly size: number;

  constructor(file: NamedFile, faults: Faults) {
    this.#file = file;
    for (const { number, start, text } of linesOf(file, faults)) {
      const line = receiptLineSchema.safeParse(strictJson(text));
      if (!line.success)
        faults.add('malformed', `${file.name} line ${number}: is not of the form of a receipt`);
      else if (this.#starts.has(line.data.record)) {
        faults.add('duplicate', 'there are two receipts of one record', line.data);
      } else this.#starts.set(line.data.record, start);
    }
    this.size = this.#starts.size;
  }

  /** Takes the line of a record out, if there is one. */
  take(record: string): ReceiptLine | undefined {
    const start = this.#starts.get(record);
    this.#starts.delete(record);
    if (start === undefined) return undefined;
    // It was found to be well formed when the lines were read.
    return receiptLineSchema.parse(JSON.parse(lineAt(this.#file, start)));
  }

  /** Takes out those that nobody asked for. */
  *rest(): Generator<ReceiptLine> {
    for (const record of this.#starts.keys()) {
      const line = this.take(record);
      if (line !== undefined) yield line;
    }
  }
}
