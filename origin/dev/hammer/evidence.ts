import { z } from 'zod';
import { END_KINDS, recordSchema } from '../../../shared/record.ts';
import { receiptOpener } from '../../../shared/verify/jws.ts';
import { verifyAnswer } from '../../../shared/verify/single.ts';
import type { Made } from './calls.ts';
import type { Tally } from './tally.ts';
import type { Target } from './target.ts';

const answerSchema = z.object({
  records: z.array(z.object({ leaf: z.string(), record: recordSchema })),
});

type Entry = z.infer<typeof answerSchema>['records'][number];

/** Pause before the evidence of a call is asked for again, in ms. */
const PAUSE_MS = 500;

/** Looks at what the gateway gives as evidence of a call, as its tenant does. */
export class Evidence {
  readonly #target: Target;
  readonly #tally: Tally;
  readonly #tries: number;
  readonly #open: ReturnType<typeof receiptOpener>;

  constructor(target: Target, tally: Tally, tries = 20) {
    this.#target = target;
    this.#tally = tally;
    this.#tries = tries;
    this.#open = receiptOpener(target.trust.keys);
  }

  /** The receipt that came with an answer. */
  checkReceipt({ id, receipt, status, kind }: Made): void {
    if (status === 200 && receipt === undefined)
      this.#tally.fault(`${id} (${kind}): answered without a receipt`);
    if (receipt === undefined) return;
    const opened = this.#open(receipt);
    if (!opened.ok) this.#tally.fault(`${id}: its receipt: ${opened.error.reason}`);
    else if (opened.value.rid !== id) this.#tally.fault(`${id}: its receipt is of ${opened.value.rid}`);
    else this.#tally.receipts += 1;
  }

  /** The records of a call and their proofs, while others are being written. What is late is asked for again. */
  async checkCall(made: Made): Promise<void> {
    let left: readonly string[] = [];
    for (let tries = 1; tries <= this.#tries; tries += 1) {
      left = await this.#faultsOf(made).catch((cause: Error) => [`no answer about it (${cause.name})`]);
      if (left.length === 0) {
        this.#tally.proofs += 1;
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    for (const fault of left) this.#tally.fault(`${made.id} (${made.kind}): ${fault}`);
  }

  async #faultsOf(made: Made): Promise<readonly string[]> {
    const response = await this.#target.ask(`/v1/receipts/${made.id}`);
    const text = await response.text();
    if (response.status !== 200) return [`asked for its records, the status was ${response.status}`];
    const report = verifyAnswer(text, this.#target.trust);
    const faults = report.faults.map(({ fault, reason }) => `${fault}: ${reason}`);
    const answer = answerSchema.safeParse(JSON.parse(text));
    return answer.success
      ? [...faults, ...storyFaults(answer.data.records), ...this.#receiptFaults(made, answer.data.records)]
      : faults;
  }

  #receiptFaults({ receipt }: Made, entries: readonly Entry[]): string[] {
    const opened = receipt === undefined ? undefined : this.#open(receipt);
    if (!opened?.ok) return [];
    const { rec, leaf } = opened.value;
    const same = entries.some((entry) => entry.record.id === rec && entry.leaf === leaf);
    return same ? [] : ['the record that its receipt commits to is not shown'];
  }
}

/** Whether the records tell a whole story: each attempt begins once and ends once, or it was refused. */
function storyFaults(entries: readonly Entry[]): string[] {
  const records = entries.map(({ record }) => record);
  if (records.length === 0) return ['it has no record'];
  return records
    .filter(({ kind }) => kind === 'pending')
    .map(({ id }) =>
      records.filter(({ kind, pending_id }) => pending_id === id && END_KINDS.some((end) => end === kind)),
    )
    .filter((ends) => ends.length !== 1)
    .map((ends) => `an attempt of it has ${ends.length} ends`);
}
