import { Command } from 'commander';
import { ORDER_MINUTES_MAX, type OrderName } from '../control/endpoint-orders.ts';
import { endpointListSchema, endpointViewSchema } from '../control/endpoint-view.ts';
import { type OriginAddress, originAddresses } from '../control/stack-file.ts';
import { UsageFault } from '../usage-fault.ts';
import { type AdminOptions, askAdmin, withAdminOptions } from './admin-client.ts';
import { endpointTable, type ZoneEndpoint } from './endpoint-table.ts';
import { loggedIn } from './logged-in.ts';

interface ListOptions extends AdminOptions {
  readonly json?: boolean;
}

interface OrderOptions extends ListOptions {
  readonly why: string;
  readonly by?: string;
  readonly minutes?: string;
}

const ORDERS: Readonly<Record<OrderName, string>> = {
  open: 'Takes an endpoint out: no call and no probe goes there until it is released.',
  close: 'Lets calls go to an endpoint whatever its health, until it is released.',
  release: 'Takes back an order or a quarantine: what was out is tried by one probe first.',
};

/** `residency endpoints`: the health of each endpoint, and a person's orders over it. */
export const command = (): Command => {
  const endpoints = withAdminOptions(new Command('endpoints'))
    .description(
      'Shows every endpoint: whether the policies ever allow it, how its health is (ok; trial: one call at a time; busy; out), why, since when, when it was last tried and when it is tried again; how many calls and probes of the last 5 minutes failed there, and how soon its streams began. Without --admin it asks the local stack, all zones of it.',
    )
    .option('--json', 'print one JSON object')
    .action(list);
  for (const name of ['open', 'close', 'release'] as const) endpoints.addCommand(orderCommand(name));
  return endpoints;
};

function orderCommand(name: OrderName): Command {
  const command = new Command(name)
    .description(ORDERS[name])
    .argument('<id>', 'the endpoint, as `residency endpoints` shows it')
    .requiredOption('--why <text>', 'the reason; it goes on record')
    .option('--by <name>', 'who gives the order; without it the name you are logged in with')
    .configureHelp({ showGlobalOptions: true });
  if (name !== 'release')
    command.option('--minutes <count>', 'how long it holds; without it until it is released');
  return command.action((id: string) => order(name, id, command.optsWithGlobals<OrderOptions>()));
}

async function list(options: ListOptions): Promise<void> {
  const found = await endpointsOf(await originAddresses(options));
  print(
    found.map(({ endpoint }) => endpoint),
    options,
  );
}

async function order(name: OrderName, id: string, options: OrderOptions): Promise<void> {
  const minutes = options.minutes === undefined ? undefined : minutesOf(options.minutes);
  const given = { by: options.by ?? loggedIn(), why: options.why, ...(minutes && { minutes }) };
  const { origin, endpoint } = one(id, await endpointsOf(await originAddresses(options)));
  const path = `/admin/endpoints/${encodeURIComponent(id)}/${name}`;
  const view = await askAdmin(origin, path, endpointViewSchema, given);
  print([{ jurisdiction: endpoint.jurisdiction, ...view }], options);
}

interface Found {
  readonly origin: OriginAddress;
  readonly endpoint: ZoneEndpoint;
}

async function endpointsOf(origins: readonly OriginAddress[]): Promise<readonly Found[]> {
  const lists = await Promise.all(
    origins.map(async (origin) => {
      const { jurisdiction, endpoints } = await askAdmin(origin, '/admin/endpoints', endpointListSchema);
      return endpoints.map((endpoint) => ({ origin, endpoint: { jurisdiction, ...endpoint } }));
    }),
  );
  return lists.flat();
}

function one(id: string, all: readonly Found[]): Found {
  const [found, ...others] = all.filter(({ endpoint }) => endpoint.id === id);
  if (found === undefined) {
    throw new Error(
      `no endpoint has this id; there are ${all.map(({ endpoint }) => endpoint.id).join(', ')}`,
    );
  }
  if (others.length > 0) throw new UsageFault(`several zones have an endpoint ${id}: name one with --zone`);
  return found;
}

function minutesOf(text: string): number {
  const minutes = Number(text);
  if (Number.isInteger(minutes) && minutes >= 1 && minutes <= ORDER_MINUTES_MAX) return minutes;
  throw new UsageFault(`--minutes takes 1 to ${ORDER_MINUTES_MAX}`);
}

function print(endpoints: readonly ZoneEndpoint[], options: ListOptions): void {
  const pointing = ({ jurisdiction }: ZoneEndpoint): readonly string[] => {
    if (options.admin !== undefined) return ['--admin', options.admin];
    return ['--zone', jurisdiction, ...(options.data === 'data' ? [] : ['--data', options.data])];
  };
  const shown = options.json
    ? `${JSON.stringify({ endpoints })}\n`
    : endpointTable(endpoints, { now: Date.now(), pointing });
  process.stdout.write(shown);
}
