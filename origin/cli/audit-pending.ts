import { Command } from 'commander';
import { pendingListSchema } from '../control/log-view.ts';
import { originAddresses } from '../control/stack-file.ts';
import { type AdminOptions, askAdmin, withAdminOptions } from './admin-client.ts';
import { tableText } from './table.ts';

/** Exit code: there are calls without an end. */
const FOUND = 1;

interface PendingOptions extends AdminOptions {
  readonly json?: boolean;
}

/** `residency audit pending`: calls that should have ended on record and have not. */
export const pendingCommand = (): Command =>
  withAdminOptions(new Command('pending'))
    .description(
      'Lists each call that was announced and has no end on record, although it is past the longest time that the limits allow. Without --zone or --admin it asks all zones of the local stack. Exit 1 if there is any.',
    )
    .option('--json', 'print one JSON object')
    .addHelpText('after', '\nExample:\n  residency audit pending --zone eu --json')
    .action(async (options: PendingOptions) => {
      const origins = await originAddresses(options);
      const lists = await Promise.all(
        origins.map((origin) => askAdmin(origin, '/admin/pending', pendingListSchema)),
      );
      const pending = lists.flatMap(({ jurisdiction, deadline_ms, pending }) =>
        pending.map((one) => ({ jurisdiction, deadline_ms, ...one })),
      );
      if (pending.length > 0) process.exitCode = FOUND;
      process.stdout.write(options.json ? `${JSON.stringify({ pending })}\n` : textOf(pending));
    });

type Overdue = { jurisdiction: string } & ReturnType<typeof pendingListSchema.parse>['pending'][number];

function textOf(pending: readonly Overdue[]): string {
  if (pending.length === 0) return 'Every call has ended on record, or may still be under way.\n';
  return tableText(
    ['zone', 'place', 'since', 'minutes', 'tenant', 'endpoint', 'request id', 'record'],
    pending.map(({ jurisdiction, seq, at, age_ms, tenant, endpoint, request_id, id }) => [
      ...[jurisdiction, String(seq), at, String(Math.round(age_ms / 60_000))],
      ...[tenant ?? '-', endpoint ?? '-', request_id ?? '-', id],
    ]),
  );
}
