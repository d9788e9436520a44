import { type AuditRecord, END_KINDS } from '../../../shared/record.ts';

/**
 * One record for each attempt at an endpoint, that tells most of it: the answer, or where there was none the end.
 * Evidence of a region outside the policy is told in any case, also after an answer and at a probe.
 */
export function* attemptsIn(records: Iterable<AuditRecord>): Generator<AuditRecord> {
  /** Attempts that were answered and have not ended. */
  const answered = new Set<string>();
  for (const record of records) {
    const { kind, endpoint, pending_id: pending = '' } = record;
    if (endpoint === undefined) continue;
    if (kind === 'served') {
      if (pending !== '') answered.add(pending);
      yield record;
    } else if (END_KINDS.some((end) => end === kind)) {
      const isTold = answered.delete(pending);
      if (!isTold || kind === 'violation') yield record;
    }
  }
}
