import type { ErrorCode } from '../../../shared/errors.ts';
import type { AuditRecord } from '../../../shared/record.ts';

/** What is shown of the calls of one group at most; ids and routes are examples. */
const EXAMPLES = 3;

/** The refusals of one tenant by one code. */
export interface RefusalGroup {
  /** Null where no tenant could be named. */
  readonly tenant: string | null;
  readonly code: ErrorCode;
  readonly count: number;
  /** By place in the log. */
  readonly first: string;
  readonly last: string;
  readonly routes: readonly string[];
  /** What the calls asked for, as far as the policy knows it. */
  readonly workloads: readonly string[];
  /** The newest. */
  readonly request_ids: readonly string[];
}

/** Groups refused calls by tenant and code, those that came most often first. */
export function refusalsIn(records: Iterable<AuditRecord>): readonly RefusalGroup[] {
  const groups = new Map<string, RefusalGroup>();
  for (const { kind, code, tenant = null, at, route, workload, request_id: id } of records) {
    if (kind !== 'refused' || code === undefined) continue;
    const key = JSON.stringify([tenant, code]);
    const known = groups.get(key) ?? NONE;
    groups.set(key, {
      ...{ tenant, code, count: known.count + 1, first: known.first ?? at, last: at },
      routes: withExample(known.routes, route),
      workloads: withExample(known.workloads, workload),
      request_ids: id === undefined ? known.request_ids : [...known.request_ids, id].slice(-EXAMPLES),
    });
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count || (a.last < b.last ? 1 : -1));
}

const NONE = { count: 0, first: undefined, routes: [], workloads: [], request_ids: [] } as const;

const withExample = (known: readonly string[], one: string | undefined): readonly string[] =>
  one === undefined || known.includes(one) || known.length === EXAMPLES ? known : [...known, one];
