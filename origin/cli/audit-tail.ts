import { Command } from 'commander';
import type { AuditRecord } from '../../shared/record.ts';
import { recordPageSchema } from '../control/record-view.ts';
import { type OriginAddress, originAddresses } from '../control/stack-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { type AdminOptions, askAdmin, withAdminOptions } from './admin-client.ts';
import { byTime } from './by-time.ts';

/** How often `--follow` asks for more, in ms. */
const FOLLOW_MS = 1_000;

interface TailOptions extends AdminOptions {
  readonly limit: string;
  readonly follow?: boolean;
  readonly json?: boolean;
}

/** `residency audit tail`: the newest records of each zone. */
export const tailCommand = (): Command =>
  withAdminOptions(new Command('tail'))
    .description(
      'Shows the newest records by time. Without --admin it reads the local stack, all zones of it.',
    )
    .option('-n, --limit <count>', 'how many records of each zone', '20')
    .option('-f, --follow', 'go on with new records as they come')
    .option('--json', 'print one JSON object a line')
    .action(tail);

async function tail(options: TailOptions): Promise<void> {
  const limit = Number(options.limit);
  if (!Number.isInteger(limit) || limit < 1 || limit > 1_000) throw new UsageFault('--limit takes 1 to 1000');
  const origins = await originAddresses(options);
  const next = new Map<OriginAddress, number>();
  const read = async (origin: OriginAddress, query: string) => {
    const entries = await records(origin, query);
    next.set(origin, entries.at(-1)?.seq ?? next.get(origin) ?? -1);
    return entries;
  };
  const show = async (query: (origin: OriginAddress) => string) => {
    const logs = await Promise.all(origins.map((origin) => read(origin, query(origin))));
    // Places whose record is pruned have nothing to show.
    const kept = logs.map((log) => log.flatMap(({ record }) => (record === null ? [] : [{ record }])));
    const entries = byTime(kept);
    for (const { record } of entries) {
      process.stdout.write(`${options.json ? JSON.stringify(record) : line(record)}\n`);
    }
    return entries.length;
  };
  const shown = await show(() => `limit=${limit}`);
  // Not to standard output, which a program may read.
  if (shown === 0) process.stderr.write('There is no record yet.\n');
  while (options.follow) {
    await new Promise((resolve) => setTimeout(resolve, FOLLOW_MS));
    await show((origin) => `after=${next.get(origin) ?? -1}`);
  }
}

const records = async (origin: OriginAddress, query: string) =>
  (await askAdmin(origin, `/admin/records?${query}`, recordPageSchema)).records;

/** A record as one line: when, what, for whom, where, and what came of it. */
function line(record: AuditRecord): string {
  const tokens = record.input_tokens ?? record.output_tokens;
  const parts = [
    record.at,
    record.jurisdiction.padEnd(2),
    record.kind.padEnd(11),
    (record.tenant ?? '-').padEnd(16),
    (record.workload ?? record.route ?? '-').padEnd(18),
    record.endpoint ?? '-',
    record.serving_region ?? record.provider_region ?? '',
    record.code ?? '',
    record.upstream_status === undefined ? '' : `upstream ${record.upstream_status}`,
    record.latency_ms === undefined ? '' : `${Math.round(record.latency_ms)} ms`,
    tokens == null ? '' : `${record.input_tokens ?? 0}+${record.output_tokens ?? 0} tokens`,
    record.request_id ?? '',
    record.kind === 'control' ? `by ${record.actor ?? '-'}: ${record.selection_reason ?? ''}` : '',
  ];
  return parts.filter((part) => part !== '').join('  ');
}
