import { type AuditRecord, RECORD_VERSION, type RecordKind } from '../../shared/record.ts';
import { type Clock, timestamp } from '../clock.ts';

/** What a record says beside its own identity. */
export type Facts = Omit<AuditRecord, 'v' | 'kind' | 'id' | 'at'>;

/** A wall clock can step back in the middle of a call, and what has begun still has to end on record. */
const notNegative = (name: 'latency_ms' | 'ttft_ms', facts: Facts): Partial<Facts> => {
  const ms = facts[name];
  return ms === undefined ? {} : { [name]: Math.max(ms, 0) };
};

/** Makes records: each with its own id and time. */
export class RecordMaker {
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor(clock: Clock, newId: () => string) {
    this.#clock = clock;
    this.#newId = newId;
  }

  make(kind: RecordKind, facts: Facts): AuditRecord {
    const identity = { v: RECORD_VERSION, kind, id: this.#newId(), at: timestamp(this.#clock) } as const;
    return { ...identity, ...facts, ...notNegative('latency_ms', facts), ...notNegative('ttft_ms', facts) };
  }
}
