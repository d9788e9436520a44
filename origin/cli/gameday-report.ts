import { Drill } from '../audit/reports/drill.ts';
import { type Check, checksOf } from '../audit/reports/gameday-checks.ts';
import { tableText } from './table.ts';
import { type BundleOptions, type VerifiedBundle, verifiedBundle } from './verified-bundle.ts';

/** Exit code: something that a game day is to show did not hold. */
const NOT_HELD = 1;

export interface ReportOptions extends BundleOptions {
  readonly tenant: string;
  readonly json?: boolean;
}

const TITLES: Readonly<Record<Check['check'], string>> = {
  inside_graph: 'Every receipt inside the graph',
  first_token: 'First token under the limit',
  fail_closed: 'Whole graph down: refused, and nothing sent elsewhere',
};

const VERDICTS: Readonly<Record<Check['verdict'], string>> = {
  held: 'HELD',
  not_held: 'NOT HELD',
  not_exercised: 'not exercised',
};

/** `residency gameday report`: what a tenant's game days have shown, out of a verified bundle. */
export async function report(options: ReportOptions): Promise<void> {
  const bundle = await verifiedBundle(options, options.tenant);
  const drill = new Drill(bundle.evidence, options.tenant);
  const checks = checksOf(drill);
  if (checks.some(({ verdict }) => verdict === 'not_held')) process.exitCode = NOT_HELD;
  process.stdout.write(
    options.json
      ? `${JSON.stringify(jsonOf(bundle, options.tenant, drill, checks))}\n`
      : textOf(bundle, options.tenant, drill, checks),
  );
}

function jsonOf(
  { evidence: { manifest } }: VerifiedBundle,
  tenant: string,
  drill: Drill,
  checks: readonly Check[],
): object {
  const { log, jurisdiction, from, to, scope } = manifest;
  return {
    ok: checks.every(({ verdict }) => verdict !== 'not_held'),
    ...{ log, jurisdiction, tenant, scope, window: { from, to }, game_days: drill.days.all },
    receipts: { count: drill.receipts.count, by_region: [...drill.places.values()] },
    graphs: [...drill.graphs.values()],
    first_token: { streams: drill.streams.count, late: drill.late, slowest: drill.slowest ?? null },
    refused: drill.refused,
    outside: drill.outside,
    checks,
  };
}

function textOf(
  { evidence: { manifest } }: VerifiedBundle,
  tenant: string,
  { days, places, graphs }: Drill,
  checks: readonly Check[],
): string {
  const { log, from, to, scope } = manifest;
  const title = `Game days of ${tenant} in ${log}, ${from} to ${to}, verified.\n`;
  const held =
    days.all.length === 0
      ? 'No game day is on record in this window, so all of it is looked at.\n'
      : tableText(
          ['forced open', 'from', 'to', 'by', 'why'],
          days.all.map((day) => [day.endpoints.join(', '), day.from, day.to, day.by, day.why]),
        );
  const receipts =
    places.size === 0
      ? 'No call was answered.\n'
      : tableText(
          ['region', 'endpoint', 'receipts'],
          [...places.values()].map(({ region, endpoint, count }) => [region, endpoint, String(count)]),
        );
  const graph = [...graphs.values()].map(
    ({ workload, policy, endpoints }) => `Graph of ${workload} in ${policy}: ${endpoints.join(' > ')}\n`,
  );
  const verdicts = tableText(
    ['to be shown', 'verdict', ''],
    checks.map(({ check, verdict, words }) => [TITLES[check], VERDICTS[verdict], words]),
  );
  const partial =
    scope === 'log'
      ? []
      : ['The bundle is of one tenant: only that of the whole log shows that no record is left out.\n'];
  return [title, held, receipts, graph.join(''), verdicts, ...partial]
    .filter((part) => part !== '')
    .join('\n');
}
