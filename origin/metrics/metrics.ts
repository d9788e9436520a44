import type { ErrorCode } from '../../shared/errors.ts';
import type { Outcome } from '../../shared/headers.ts';
import type { AuditRecord, RecordKind } from '../../shared/record.ts';
import type { RouteName } from '../../shared/routes.ts';
import type { LedgerStats } from '../audit/ledger.ts';
import type { LogStates } from '../audit/published.ts';
import type { EndpointState } from '../health/orders.ts';
import type { ProbeResult } from '../health/probe.ts';

/** A call that has ended, as far as it is counted. Nothing of it but closed lists and known names becomes a label. */
export interface EndedCall {
  readonly route: RouteName | undefined;
  /** Path and query as received; looked at, never shown. */
  readonly target: string;
  /** `workload` is there only where a policy knows it. */
  readonly facts: Pick<AuditRecord, 'workload'>;
  /** ms since the epoch. */
  readonly startedAt: number;
  /** What the caller was told; undefined where the call broke. */
  readonly told: { readonly outcome: Outcome | 'interrupted'; readonly code?: ErrorCode } | undefined;
  /** When an endpoint's answer began to go out, in ms since the epoch. */
  readonly begun: { readonly at: number; readonly streamed: boolean } | undefined;
  /** ms that passed waiting for the caller's body and for endpoints, up to the first content of an answer. */
  readonly waitedMs: number;
  readonly stoppedBy: 'client' | 'gateway' | undefined;
}

/** How far the log is; undefined where the store cannot tell just now. */
export interface LogLevels {
  readonly states: LogStates;
  /** Since the newest checkpoint was signed, in ms; undefined where there is none. */
  readonly checkpointAgeMs: number | undefined;
  /** Calls without an end that are past their time. */
  readonly overdue: number;
}

/** What stands at a level at this moment, where the rest is counted as it happens. */
export interface Levels {
  readonly circuits: ReadonlyMap<string, EndpointState>;
  readonly ledger: LedgerStats;
  readonly callsUnderWay: number;
  readonly log: LogLevels | undefined;
  /** The log must not go on. */
  readonly logBroken: boolean;
}

/**
 * Told of what happens, so that it can be counted. None of these may throw, wait or keep what it is given: a
 * call MUST go the same way whether it is counted or not.
 */
export interface Counts {
  /** A record is on its way into the log: attempts, refusals, violations, tokens and times are read from it. */
  recorded(record: AuditRecord): void;
  /** A call has ended; `now` in ms since the epoch. */
  ended(call: EndedCall, now: number): void;
  probed(endpoint: string, result: ProbeResult): void;
  /** A group of so many records is durable. */
  committed(size: number): void;
  /** A record could not be kept. */
  lost(kind: RecordKind): void;
}

export interface Metrics {
  readonly counts: Counts;
  /** Media type of `text`. */
  readonly contentType: string;
  /** Everything in Prometheus' text format. Holds no tenant, no content and no word of a caller's own. */
  text(levels: Levels): Promise<string>;
}
