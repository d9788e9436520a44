import { join } from 'node:path';
import { openSqliteStore } from '../../../origin/store/sqlite.ts';
import type { Store } from '../../../origin/store/store.ts';
import { CallRows } from '../call-rows.ts';
import type { ByScale, Scenario, Subject } from '../scenario.ts';
import { perSecond, type Span, timed } from '../stopwatch.ts';
import { percentile } from '../summary.ts';

const COMMITS: ByScale = { tiny: 2, quick: 100, full: 500 };

/** Commits one after the other, as the ledger does. */
const commitsOf = (store: Store, rows: CallRows, size: number, commits: number): Subject => ({
  name: size === 1 ? '1 row a commit' : `${size} rows a commit`,
  round: async () => {
    const groups = Array.from({ length: commits }, () => rows.take(size));
    const spans: Span[] = [];
    for (const group of groups) spans.push(await timed(() => store.append(group)));
    const walls = spans.map(({ wall }) => wall);
    const sum = (times: readonly number[]) => times.reduce((total, ms) => total + ms, 0);
    return {
      rows: perSecond(size * commits, sum(walls)),
      'commit p50': percentile(walls, 0.5),
      'commit p99': percentile(walls, 0.99),
      CPU: (sum(spans.map(({ cpu }) => cpu)) * 1_000) / (size * commits),
    };
  },
});

export const storeWrites: Scenario = {
  name: 'store-writes',
  measures: 'durable records of calls in a SQLite store, against how many share a commit',
  figures: [
    { name: 'rows', unit: 'rows/s' },
    { name: 'commit p50', unit: 'ms' },
    { name: 'commit p99', unit: 'ms' },
    { name: 'CPU', unit: 'µs a row' },
  ],
  stage: async (scale, folder) => {
    const store = await openSqliteStore({ path: join(folder, 'log.db'), zone: 'eu' });
    const [commits, rows] = [COMMITS[scale], new CallRows()];
    const of = (size: number) => commitsOf(store, rows, size, commits);
    return {
      subjects: [of(1), of(8), of(64), of(256)],
      close: () => store.close(),
    };
  },
};
