import { graphOf } from '../../shared/policy-rules.ts';
import { err, ok, type Result } from '../../shared/result.ts';
import { begunWords, endedWords } from '../audit/game-day.ts';
import type { Gateway } from '../gateway.ts';
import { DRILLS_MAX, type Drill } from '../health/circuit.ts';
import type { GameDayEnd, GameDayOrder } from './gameday-view.ts';

const MINUTE_MS = 60_000;

/**
 * Why a game day has not its whole effect. After `unrecorded` and `not_kept` it holds all the same, and what is
 * missing is tried again; after the others nothing was changed.
 */
export type GameDayFault = 'no_tenant' | 'no_endpoint' | 'too_many' | 'none' | 'unrecorded' | 'not_kept';

/** A circuit that is open for one tenant alone. */
export interface ForcedOpen extends Drill {
  readonly endpoint: string;
}

/** What is forced open now, in the order of the registry. */
export function forcedOpen({ config, health }: Gateway): readonly ForcedOpen[] {
  return [...config.registry.keys()].flatMap((endpoint) =>
    health.orders.of(endpoint).drills.map((drill) => ({ endpoint, ...drill })),
  );
}

/** Forces circuits open for one tenant alone, on record, until a time that the record names; kept over a restart. */
export async function beginGameDay(
  gateway: Gateway,
  order: GameDayOrder,
): Promise<Result<void, GameDayFault>> {
  const { clock, health } = gateway;
  const { tenant, by, why, minutes } = order;
  const endpoints = [...new Set(order.endpoints)];
  const unfit = unfitness(gateway, tenant, endpoints);
  if (unfit !== undefined) return err(unfit);
  const until = clock.now() + minutes * MINUTE_MS;
  const words = begunWords(new Date(until).toISOString(), why);
  // Before the circuits open: a crash between the two leaves a game day on record that refused nobody anything.
  const recorded = await record(gateway, { tenant, by }, endpoints, words);
  // A ledger that cannot write now keeps the records, so what they say has to come true.
  for (const endpoint of endpoints) health.orders.drill(endpoint, { tenant, by, why, until });
  return await effect(gateway, recorded);
}

/** Ends what is forced open for a tenant before its time. */
export async function endGameDay(
  gateway: Gateway,
  { tenant, by, why }: GameDayEnd,
): Promise<Result<void, GameDayFault>> {
  const endpoints = forcedOpen(gateway)
    .filter((drill) => drill.tenant === tenant)
    .map(({ endpoint }) => endpoint);
  if (endpoints.length === 0) return err('none');
  const recorded = await record(gateway, { tenant, by }, endpoints, endedWords(why));
  for (const endpoint of endpoints) gateway.health.orders.endDrill(endpoint, tenant);
  return await effect(gateway, recorded);
}

function unfitness(
  { config, health }: Gateway,
  tenant: string,
  endpoints: readonly string[],
): GameDayFault | undefined {
  const known = config.tenants.get(tenant);
  const policy = known && config.policies.get(known.policy);
  if (policy === undefined) return 'no_tenant';
  const graphs = Object.values(policy.document.workloads).flatMap(({ failover }) => graphOf(failover));
  const named = new Set(graphs.map(({ endpoint }) => endpoint));
  if (endpoints.some((endpoint) => !named.has(endpoint) || !config.registry.has(endpoint)))
    return 'no_endpoint';
  const isFull = (endpoint: string) =>
    health.orders.of(endpoint).drills.filter((drill) => drill.tenant !== tenant).length >= DRILLS_MAX;
  return endpoints.some(isFull) ? 'too_many' : undefined;
}

/** One record for each endpoint, as the tenant's own: it may see what was done to its calls. */
async function record(
  { config, ledger, records }: Gateway,
  { tenant, by }: { readonly tenant: string; readonly by: string },
  endpoints: readonly string[],
  words: string,
): Promise<boolean> {
  const kept = await Promise.all(
    endpoints.map((endpoint) =>
      ledger.append(
        records.make('control', {
          ...{ jurisdiction: config.jurisdiction, tenant, endpoint, actor: by },
          selection_reason: words,
        }),
      ),
    ),
  );
  return kept.every((appended) => appended.ok);
}

async function effect({ health }: Gateway, recorded: boolean): Promise<Result<void, GameDayFault>> {
  const kept = await health.kept().then(
    () => true,
    () => false,
  );
  if (!recorded) return err('unrecorded');
  return kept ? ok(undefined) : err('not_kept');
}
