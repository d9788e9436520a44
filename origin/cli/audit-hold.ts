import { Command } from 'commander';
import {
  type HoldView,
  holdListSchema,
  holdViewSchema,
  placedHoldSchema,
} from '../control/retention-view.ts';
import { originAddresses } from '../control/stack-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { type AdminOptions, askAdmin, oneOrigin, withAdminOptions } from './admin-client.ts';
import { loggedIn } from './logged-in.ts';
import { tableText } from './table.ts';
import { momentOf, WHEN_FORMS } from './when.ts';

interface ListOptions extends AdminOptions {
  readonly json?: boolean;
}

interface OrderOptions extends ListOptions {
  readonly why: string;
  readonly by?: string;
}

interface AddOptions extends OrderOptions {
  readonly tenant?: string;
  readonly from?: string;
  readonly to?: string;
}

/** `residency audit hold`: keeps records beyond their time, by order. */
export const holdCommand = (): Command =>
  new Command('hold')
    .description(
      'Keeps the records of a tenant, of a period or of both, however long ago their time was over.',
    )
    .addCommand(
      ordered('add', 'Places a hold. It goes by the tenant and the time of each record.')
        .option('--tenant <id>', 'records of this tenant')
        .option('--from <time>', `records of this time and later: ${WHEN_FORMS}`)
        .option('--to <time>', 'records of this time and earlier; a date is its whole day here')
        .addHelpText(
          'after',
          '\nExample:\n  residency audit hold add --zone eu --tenant acme --from 2026-01-01 --why "case 12/26"',
        )
        .action(add),
    )
    .addCommand(
      ordered('release', 'Releases a hold.')
        .argument('<id>', 'the hold, as `hold list` shows it')
        .action(release),
    )
    .addCommand(
      withAdminOptions(new Command('list'))
        .description(
          'Shows every hold ever placed. Without --admin it reads the local stack, all zones of it.',
        )
        .option('--json', 'print one JSON object')
        .action(list),
    );

const ordered = (name: string, description: string): Command =>
  withAdminOptions(new Command(name))
    .description(description)
    .requiredOption('--why <text>', 'the reason; it goes on record')
    .option('--by <name>', 'who gives the order; without it the name you are logged in with')
    .option('--json', 'print one JSON object');

async function add({ tenant, from, to, ...options }: AddOptions): Promise<void> {
  if (tenant === undefined && from === undefined && to === undefined)
    throw new UsageFault('name whose records, with --tenant, of which time, with --from and --to, or both');
  const order = {
    ...who(options),
    ...(tenant !== undefined && { tenant }),
    ...(from !== undefined && { from: momentOf('--from', from, Date.now()) }),
    ...(to !== undefined && { to: momentOf('--to', wholeDay(to), Date.now()) }),
  };
  const { warning, ...hold } = await askAdmin(
    await oneOrigin(options),
    '/admin/holds',
    placedHoldSchema,
    order,
  );
  if (warning !== null) process.stderr.write(`warning: ${warning}\n`);
  print([hold], options);
}

async function release(id: string, options: OrderOptions): Promise<void> {
  const path = `/admin/holds/${encodeURIComponent(id)}/release`;
  print([await askAdmin(await oneOrigin(options), path, holdViewSchema, who(options))], options);
}

async function list(options: ListOptions): Promise<void> {
  const origins = await originAddresses(options);
  const lists = await Promise.all(origins.map((origin) => askAdmin(origin, '/admin/holds', holdListSchema)));
  print(
    lists.flatMap(({ jurisdiction, holds }) => holds.map((hold) => ({ jurisdiction, ...hold }))),
    options,
  );
}

const who = ({ by, why }: OrderOptions) => ({ by: by ?? loggedIn(), why });

/** More is kept rather than less. */
const wholeDay = (text: string): string =>
  /^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T23:59:59.999Z` : text;

type Shown = HoldView & { readonly jurisdiction?: string };

function print(holds: readonly Shown[], { json }: ListOptions): void {
  process.stdout.write(json ? `${JSON.stringify({ holds })}\n` : textOf(holds));
}

function textOf(holds: readonly Shown[]): string {
  if (holds.length === 0) return 'There are no holds.\n';
  const head = ['zone', 'hold', 'tenant', 'from', 'to', 'placed', 'why', 'released'];
  const rows = holds.map((hold) => [
    ...[hold.jurisdiction ?? '', hold.id, hold.tenant ?? '(all)', hold.from ?? '-', hold.to ?? '-'],
    ...[`${hold.at} by ${hold.by}`, hold.why],
    hold.released_at === null ? 'no' : `${hold.released_at} by ${hold.released_by}`,
  ]);
  return tableText(head, rows);
}
