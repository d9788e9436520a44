import type { Clock } from '../clock.ts';
import type { Limits } from '../limits.ts';
import { type LogReader, READ_MAX, type SequencedRow } from '../store/store.ts';
import { decodeRecord } from './encode.ts';

/** A call that was announced and has no end on record, although it is past its time. */
export interface OverduePending {
  readonly seq: number;
  readonly id: string;
  readonly request_id: string | null;
  readonly tenant: string | null;
  readonly endpoint: string | null;
  readonly at: string;
  readonly age_ms: number;
}

/**
 * How long a call may be without an end, in ms: all its attempts, and then the longest silences of its stream
 * and of its caller. A stream that goes on and on outlives it without anything being wrong.
 */
export const pendingDeadlineMs = (limits: Limits): number =>
  limits.attempts_total_ms + limits.stream_idle_ms + limits.client_stall_ms;

/** The oldest of them, READ_MAX at most. Rejects as the store does. */
export async function overduePendings(
  log: Pick<LogReader, 'openPendings'>,
  clock: Clock,
  deadlineMs: number,
): Promise<readonly OverduePending[]> {
  const now = clock.now();
  const open = await log.openPendings(READ_MAX);
  return open.map((row) => pendingOf(row, now)).filter(({ age_ms }) => age_ms > deadlineMs);
}

function pendingOf(row: SequencedRow, now: number): OverduePending {
  const { request_id = null, tenant = null, endpoint = null } = decodeRecord(row);
  const age_ms = now - Date.parse(row.at);
  return { seq: row.seq, id: row.id, request_id, tenant, endpoint, at: row.at, age_ms };
}
