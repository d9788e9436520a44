import pino, { type Logger } from 'pino';
import { AssertionCheck } from './admit/assertion.ts';
import { BodyBudget } from './admit/body-budget.ts';
import { UnderWay } from './admit/under-way.ts';
import { gatedLedger } from './audit/gated-ledger.ts';
import type { Publisher } from './audit/publisher.ts';
import { receiptSigner } from './audit/receipts.ts';
import { createRecordIds } from './audit/record-id.ts';
import { RecordMaker } from './audit/records.ts';
import { Retention } from './audit/retention.ts';
import type { SignedHead } from './audit/signed-head.ts';
import { type Clock, systemClock } from './clock.ts';
import { toMend } from './config/to-mend.ts';
import type { OriginConfig } from './config.ts';
import { adminServer } from './control/admin.ts';
import { Pools } from './forward/pools.ts';
import type { Gateway } from './gateway.ts';
import type { Health } from './health/health.ts';
import { listen, stopListening } from './listening.ts';
import { startLiveHealth } from './live-health.ts';
import { countedLedger } from './metrics/counted-ledger.ts';
import { prometheusMetrics } from './metrics/prometheus.ts';
import { openLog } from './open-log.ts';
import { teamOf } from './policy/tenants.ts';
import { readiness } from './readiness.ts';
import { originServer } from './server.ts';
import type { Store } from './store/store.ts';

export interface OriginSetup {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Stands in for the store that the configuration names. */
  readonly store?: Store;
  /** Stands in for the file that keeps what was signed last. */
  readonly head?: SignedHead;
  /** Stands in for the health of the endpoints, which is given to it. */
  readonly watch?: (health: Health) => Health;
}

export interface RunningOrigin {
  /** Public and admin address, `http://host:port`. */
  readonly url: string;
  readonly admin: string;
  /** Takes no new calls, lets those under way end within `drain_ms`, and closes the log. */
  close(): Promise<void>;
}

/**
 * Starts the origin of one zone: opens its log, ends what a crash left open, and only then listens. Rejects
 * with StoreError, or where an address cannot be bound.
 */
export async function startOrigin(config: OriginConfig, setup: OriginSetup = {}): Promise<RunningOrigin> {
  const clock = setup.clock ?? systemClock;
  const logger = setup.logger ?? pino({ base: { jurisdiction: config.jurisdiction } });
  const startedAt = Math.ceil(clock.now() / 1_000) * 1_000;
  const newId = createRecordIds(clock);
  const log = await openLog(config, { clock, logger, newId, store: setup.store, head: setup.head });
  const { store, publisher } = log;

  // An assertion's time is in seconds: listening from a full second on, none of ours looks older than the start.
  if (clock.now() < startedAt) {
    await new Promise<void>((resolve) => clock.setTimeout(resolve, startedAt - clock.now() + 1));
  }
  const pools = new Pools(config.limits, clock);
  const built = await build(config, { ...log, clock, logger, pools, newId, startedAt });
  const gateway = { ...built, health: setup.watch?.(built.health) ?? built.health };
  const { server, drain } = originServer(gateway, readiness(gateway, store));
  const admin = adminServer(gateway);
  const url = await listen(server, config.listen);
  const adminUrl = await listen(admin, config.admin);
  logger.info({ url, admin: adminUrl }, 'origin is ready');
  const mending = toMend(config);
  if (mending !== undefined) logger.warn(mending);

  const close = async () => {
    const adminClosed = stopListening(admin);
    await drain();
    admin.closeAllConnections();
    await adminClosed;
    await gateway.health.close();
    await gateway.retention.close();
    await gateway.ledger.close();
    await publisher.close();
    await store.close();
    await pools.close();
  };
  let closing: Promise<void> | undefined;
  return { url, admin: adminUrl, close: () => (closing ??= close()) };
}

/** A key whose team is not there any more is not a key without a lock. */
const lockedOut = (name: string) => ({ name, allowed_regions: [] });

/** What an origin stands on: the world around it, which a simulation makes its own. */
export interface Ground {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly pools: Pools;
  readonly newId: () => string;
  /** Assertions made from this time on are taken, in ms since the epoch. */
  readonly startedAt: number;
  /** Evenly from 0 up to 1; seeded where a run has to be repeatable. */
  readonly random?: () => number;
}

/** The parts of an origin, put together; its circuits are as the store has kept them, and probes run. */
export async function build(config: OriginConfig, ground: Ground): Promise<Gateway> {
  const { clock, logger, store, publisher, pools, newId, startedAt } = ground;
  const { limits, jurisdiction } = config;
  const records = new RecordMaker(clock, newId);
  const metrics = prometheusMetrics(config, logger);
  const { counts } = metrics;
  const appendMs = limits.ledger_ms;
  const counted = countedLedger({ store, clock, newId, logger, counts, limits: { appendMs } });
  const isShut = () => publisher.broken !== undefined;
  const ledger = gatedLedger(counted, isShut);
  const health = await startLiveHealth({ ...ground, config, ledger, records, counts });
  return {
    config,
    clock,
    logger,
    newId,
    admission: {
      zone: jurisdiction,
      assertions: new AssertionCheck({ keys: config.edgeKeys, zone: jurisdiction, clock, startedAt }),
      headerBytes: limits.header_bytes,
      tenant: (id) => config.tenants.get(id),
      rejected: (fault) => logger.warn({ fault }, 'an assertion was refused'),
    },
    underWay: new UnderWay(limits.concurrent_requests),
    bodies: { limits, clock, budget: new BodyBudget(limits.buffered_body_bytes) },
    forwarder: { pools, clock, limits },
    ledger,
    records,
    health,
    metrics,
    receipts: receiptSigner(config.logName, config.signingKey),
    log: store,
    publisher,
    retention: new Retention({ ...ground, jurisdiction, policies: config.policies, isShut }),
    standpointOf: ({ tenant, key }) => {
      const policy = config.policies.get(tenant.policy);
      if (policy === undefined) throw new Error('a tenant names a policy that is not loaded');
      const team = key.team === undefined ? undefined : (teamOf(tenant, key.team) ?? lockedOut(key.team));
      return { zone: jurisdiction, policy, tenant: tenant.id, team };
    },
  };
}
