import { Command } from 'commander';
import { ORDER_MINUTES_MAX } from '../control/endpoint-orders.ts';
import { type GameDayList, gameDayListSchema } from '../control/gameday-view.ts';
import { originAddresses } from '../control/stack-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { type AdminOptions, askAdmin, oneOrigin, withAdminOptions } from './admin-client.ts';
import { report } from './gameday-report.ts';
import { loggedIn } from './logged-in.ts';
import { tableText } from './table.ts';
import { withBundleOptions } from './verified-bundle.ts';
import { spanOf } from './when.ts';

const MINUTE_MS = 60_000;

interface OrderOptions extends AdminOptions {
  readonly tenant: string;
  readonly by?: string;
  readonly why: string;
  readonly json?: boolean;
}

interface StartOptions extends OrderOptions {
  readonly endpoint: readonly string[];
  readonly for: string;
}

/** `residency gameday`: an outage for one tenant alone, in production, bounded and on record. */
export const command = (): Command =>
  new Command('gameday')
    .description('Forces endpoints out for one tenant alone, for a time, and reports what that has shown.')
    .addCommand(startCommand())
    .addCommand(
      ordering(new Command('stop'))
        .description('Ends the game days of a tenant before their time.')
        .action((options: OrderOptions) => give(options, '/admin/gamedays/stop', {})),
    )
    .addCommand(listCommand())
    .addCommand(reportCommand());

const ordering = (command: Command): Command =>
  withAdminOptions(command)
    .requiredOption('--tenant <id>', 'the tenant; no other is touched')
    .requiredOption('--why <text>', 'the reason; it goes on record')
    .option('--by <name>', 'who gives the order; without it the name you are logged in with')
    .option('--json', 'print one JSON object');

const startCommand = (): Command =>
  ordering(new Command('start'))
    .description(
      'Forces endpoints open for one tenant until the time is over; by then they are let in again by themselves. A second order over the same endpoint takes the place of the first.',
    )
    .requiredOption('--endpoint <id...>', 'endpoints of its graph; several after each other or with commas')
    .requiredOption('--for <time>', 'how long: 30m, 2h, 1d; a week at most')
    .addHelpText(
      'after',
      '\nExample:\n  residency gameday start --tenant acme --endpoint fra-chat --for 30m --why "quarterly drill"',
    )
    .action((options: StartOptions) => {
      const endpoints = options.endpoint.flatMap((list) => list.split(',')).filter((id) => id !== '');
      return give(options, '/admin/gamedays', { endpoints, minutes: minutesOf(options.for) });
    });

const listCommand = (): Command =>
  withAdminOptions(new Command('list'))
    .description('Shows what is forced open now, and for whom.')
    .option('--json', 'print one JSON object')
    .action(async (options: AdminOptions & { readonly json?: boolean }) => {
      const origins = await originAddresses(options);
      print(
        await Promise.all(origins.map((origin) => askAdmin(origin, '/admin/gamedays', gameDayListSchema))),
        options.json,
      );
    });

const reportCommand = (): Command =>
  withBundleOptions(new Command('report'), '-7d')
    .description(
      "Says of a tenant's game days, from a verified bundle, whether every receipt is inside the graph, the first token came under its limit, and with the whole graph down calls were refused and nothing was sent elsewhere. Exit 1 if one of these did not hold.",
    )
    .requiredOption('--tenant <id>', 'the tenant')
    .addHelpText('after', '\nExample:\n  residency gameday report --tenant acme --from -1d')
    .action(report);

async function give(options: OrderOptions, path: string, more: object): Promise<void> {
  const { tenant, why, json } = options;
  const order = { tenant, by: options.by ?? loggedIn(), why, ...more };
  const origin = await oneOrigin(options, tenant);
  const list = await askAdmin(origin, path, gameDayListSchema, order);
  print([{ ...list, game_days: list.game_days.filter((day) => day.tenant === tenant) }], json);
}

function minutesOf(text: string): number {
  const minutes = (spanOf(text) ?? 0) / MINUTE_MS;
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= ORDER_MINUTES_MAX) return minutes;
  throw new UsageFault('--for takes whole minutes, hours or days, such as 30m, 2h or 1d; a week at most');
}

function print(lists: readonly GameDayList[], json: boolean | undefined): void {
  const days = lists.flatMap(({ jurisdiction, game_days }) =>
    game_days.map((day) => ({ jurisdiction, ...day })),
  );
  if (json) process.stdout.write(`${JSON.stringify({ game_days: days })}\n`);
  else if (days.length === 0) process.stdout.write('Nothing is forced open.\n');
  else {
    const rows = days.map((day) => [
      ...[day.jurisdiction, day.tenant, day.endpoint, day.since, day.until, day.by, day.why],
    ]);
    process.stdout.write(tableText(['zone', 'tenant', 'forced open', 'since', 'until', 'by', 'why'], rows));
  }
}
