import { END_KINDS, type RecordKind } from '../record.ts';
import type { ProvenRecord } from './records.ts';
import type { About, Faults } from './report.ts';

/** A call that has begun and not ended. */
interface Open {
  readonly about: About;
  readonly at: string;
  answered: boolean;
}

const isEnd = (kind: RecordKind): boolean => END_KINDS.some((end) => end === kind);

/** Follows each call from its `pending` to its one end, in the order of the log. */
export class Endings {
  readonly #open = new Map<string, Open>();
  readonly #ended = new Set<string>();
  readonly #faults: Faults;
  /** Whether every call of which there is a record must have its `pending` in the window. */
  readonly #fromBeginning: () => boolean;

  constructor(faults: Faults, fromBeginning: () => boolean) {
    this.#faults = faults;
    this.#fromBeginning = fromBeginning;
  }

  see({ record, place }: ProvenRecord): void {
    const about: About = { request_id: record.request_id, record: record.id, place };
    const { kind, pending_id: pending } = record;
    if (kind === 'pending') this.#open.set(record.id, { about, at: record.at, answered: false });
    else if (pending !== undefined) {
      const call = this.#open.get(pending);
      if (call === undefined) this.#notOpen(pending, about);
      else if (kind === 'served') call.answered = true;
      if (call?.answered && kind === 'violation' && record.region_verdict === 'mismatch') {
        const where = record.serving_region ?? 'an unknown region';
        this.#faults.add('not_allowed', `after the receipt the answer gave evidence of ${where}`, about);
      }
      if (isEnd(kind)) {
        this.#open.delete(pending);
        this.#ended.add(pending);
      }
    } else if (kind === 'served' && record.endpoint !== undefined) {
      this.#faults.add('unfounded', 'an endpoint was called without a `pending` on record', about);
    }
  }

  #notOpen(pending: string, about: About): void {
    if (this.#ended.has(pending)) this.#faults.add('unended', 'the call had ended before', about);
    else if (this.#fromBeginning()) {
      this.#faults.add('unfounded', 'there is no `pending` before this record', about);
    }
  }

  /** At the end of the window. @param until its end: a call that began later may go on */
  report(until: string): void {
    for (const { about, at } of this.#open.values()) {
      if (at > until) continue;
      const words = `the call that began ${at} has no end in the window; it may have been under way still`;
      this.#faults.add('unended', words, about);
    }
  }
}
