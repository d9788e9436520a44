import { type AuditRecord, RECORD_VERSION, type RecordKind } from '../../shared/record.ts';
import { type Clock, timestamp } from '../clock.ts';

/** What a record says beside its own identity. */
export type Facts = Omit<AuditRecord, 'v' | 'kind' | 'id' | 'at'>;

/** Makes records: each with its own id and time. */
export class RecordMaker {
  readonly #clock: Clock;
  readonly #newId: () => string;

  constructor(clock: Clock, newId: () => string) {
    this.#clock = clock;
    this.#newId = newId;
  }

  make(kind: RecordKind, facts: Facts): AuditRecord {
    return { v: RECORD_VERSION, kind, id: this.#newId(), at: timestamp(this.#clock), ...facts };
  }
}
