import type { SequencedRow } from '../../origin/store/store.ts';
import { HEADER } from '../../shared/headers.ts';
import type { Caller } from './caller.ts';
import type { Visit } from './visit.ts';

/** How often a run met what it is about; what never happens is not tested. */
export type Tally = Readonly<Record<string, number>>;

export interface Run {
  /** Processes that were started, also those that did not get to take calls. */
  readonly starts: number;
  readonly callers: Iterable<Caller>;
  readonly rows: readonly SequencedRow[];
  readonly visits: readonly Visit[];
}

/** Counts what a run came to. */
export function tallyOf({ starts, callers, rows, visits }: Run): Tally {
  const tally: Record<string, number> = { starts, visits: visits.length };
  const count = (what: string) => {
    tally[what] = (tally[what] ?? 0) + 1;
  };
  for (const { state, headers, status } of callers) {
    count('calls');
    count(`caller ${state}`);
    if (status !== undefined) count(`outcome ${String(headers[HEADER.outcome])}`);
    if (Number(headers[HEADER.attempts] ?? 1) > 1) count('calls with several attempts');
  }
  for (const { kind, canonical = '' } of rows) {
    count(`record ${kind}`);
    const change = /"selection_reason":"circuit ([a-z_]+ to [a-z_]+)/.exec(canonical)?.[1];
    if (change !== undefined) count(`circuit ${change}`);
    const code = /"code":"([a-z_]+)"/.exec(canonical)?.[1];
    if (code !== undefined) count(`code ${code}`);
  }
  for (const { call } of visits) if (call === undefined) count('probes');
  return tally;
}

export const sum = (tallies: readonly Tally[]): Tally => {
  const total: Record<string, number> = {};
  for (const tally of tallies) {
    for (const [what, times] of Object.entries(tally)) total[what] = (total[what] ?? 0) + times;
  }
  return total;
};
