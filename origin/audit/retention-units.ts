import { END_KINDS, type RecordKind } from '../../shared/record.ts';
import type { LogReader, SequencedRow } from '../store/store.ts';
import type { RetentionRule } from './retention-rules.ts';

/** A record whose body is there, weighed by itself. */
export interface Weighed {
  readonly seq: number;
  readonly at: string;
  readonly tenant: string | undefined;
  readonly rule: RetentionRule;
  /** Whether its time is over. */
  readonly over: boolean;
  /** Why it has to stay although its time is over. */
  readonly stays?: 'quarantine' | 'unreadable';
}

/** Records that are dropped together or not at all: a call from its `pending` to its end, or one record. */
export type Unit = readonly Weighed[];

export interface Found {
  readonly unit: Unit;
  /** False for a call without an end so far, and for what came after the end of a call that stays. */
  readonly whole: boolean;
}

const isEnd = (kind: RecordKind): boolean => END_KINDS.some((end) => end === kind);

/**
 * Puts the records of a call together, as they come in the order of the log. A call that lost its `pending` alone
 * would read as an answer out of nothing, and one that lost its end as a call that never ended.
 */
export class Units {
  readonly #log: Pick<LogReader, 'byId'>;
  /** By the id of the `pending`; as many as there were calls at once. */
  readonly #open = new Map<string, Weighed[]>();

  constructor(log: Pick<LogReader, 'byId'>) {
    this.#log = log;
  }

  async take(row: SequencedRow, weighed: Weighed): Promise<Found | undefined> {
    if (row.kind === 'pending') {
      this.#open.set(row.id, [weighed]);
      return undefined;
    }
    if (row.pendingId === undefined) return { unit: [weighed], whole: true };
    const call = this.#open.get(row.pendingId);
    if (call === undefined) return { unit: [weighed], whole: await this.#isGone(row.pendingId) };
    call.push(weighed);
    if (!isEnd(row.kind)) return undefined;
    this.#open.delete(row.pendingId);
    return { unit: call, whole: true };
  }

  /** The calls that did not come to their end. */
  rest(): readonly Found[] {
    return [...this.#open.values()].map((unit) => ({ unit, whole: false }));
  }

  async #isGone(pendingId: string): Promise<boolean> {
    return (await this.#log.byId(pendingId))?.canonical === undefined;
  }
}
