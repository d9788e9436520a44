import pino, { type Logger } from 'pino';
import { AssertionCheck } from './admit/assertion.ts';
import { BodyBudget } from './admit/body-budget.ts';
import { UnderWay } from './admit/under-way.ts';
import { receiptSigner } from './audit/receipts.ts';
import { createRecordIds } from './audit/record-id.ts';
import { RecordMaker } from './audit/records.ts';
import { abandonOpenPendings } from './audit/recovery.ts';
import { type Clock, systemClock } from './clock.ts';
import type { OriginConfig } from './config.ts';
import { adminServer } from './control/admin.ts';
import { Pools } from './forward/pools.ts';
import type { Gateway } from './gateway.ts';
import type { Health } from './health/health.ts';
import { listen, stopListening } from './listening.ts';
import { startLiveHealth } from './live-health.ts';
import { countedLedger } from './metrics/counted-ledger.ts';
import { prometheusMetrics } from './metrics/prometheus.ts';
import { teamOf } from './policy/tenants.ts';
import { readiness } from './readiness.ts';
import { originServer } from './server.ts';
import { openSqliteStore } from './store/sqlite.ts';
import { type Store, StoreError } from './store/store.ts';

export interface OriginSetup {
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** Stands in for the store that the configuration names. */
  readonly store?: Store;
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
  const store = setup.store ?? (await openStore(config));
  const newId = createRecordIds(clock);
  const abandoned = await abandonOpenPendings({ store, clock, newId });
  if (abandoned > 0) logger.warn({ abandoned }, 'calls that a crash had left open were ended as abandoned');

  // An assertion's time is in seconds: listening from a full second on, none of ours looks older than the start.
  if (clock.now() < startedAt) {
    await new Promise<void>((resolve) => clock.setTimeout(resolve, startedAt - clock.now() + 1));
  }
  const watch = setup.watch ?? ((health) => health);
  const gateway = await build(config, { clock, logger, store, newId, startedAt, watch });
  const { server, drain } = originServer(gateway, readiness(gateway, store));
  const admin = adminServer(gateway);
  const url = await listen(server, config.listen);
  const adminUrl = await listen(admin, config.admin);
  logger.info({ url, admin: adminUrl }, 'origin is ready');

  const close = async () => {
    const adminClosed = stopListening(admin);
    await drain();
    admin.closeAllConnections();
    await adminClosed;
    await gateway.health.close();
    await gateway.ledger.close();
    await store.close();
    await gateway.forwarder.pools.close();
  };
  let closing: Promise<void> | undefined;
  return { url, admin: adminUrl, close: () => (closing ??= close()) };
}

/** A key whose team is not there any more is not a key without a lock. */
const lockedOut = (name: string) => ({ name, allowed_regions: [] });

async function openStore({ store, jurisdiction }: OriginConfig): Promise<Store> {
  switch (store.kind) {
    case 'sqlite':
      return openSqliteStore({ path: store.file, zone: jurisdiction });
    case 'postgres':
      throw new StoreError('unfit', 'this build keeps its log in SQLite: set store to sqlite:<file>');
  }
}

interface Parts {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly store: Store;
  readonly newId: () => string;
  readonly startedAt: number;
  readonly watch: (health: Health) => Health;
}

async function build(config: OriginConfig, parts: Parts): Promise<Gateway> {
  const { clock, logger, store, newId, startedAt, watch } = parts;
  const { limits, jurisdiction } = config;
  const pools = new Pools(limits, clock);
  const records = new RecordMaker(clock, newId);
  const metrics = prometheusMetrics(config, logger);
  const { counts } = metrics;
  const appendMs = limits.ledger_ms;
  const ledger = countedLedger({ store, clock, newId, logger, counts, limits: { appendMs } });
  const watched = { config, clock, shelf: store, pools, ledger, records, logger, counts };
  const health = await startLiveHealth(watched);
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
    health: watch(health),
    metrics,
    receipts: receiptSigner(config.logName, config.signingKey),
    log: store,
    standpointOf: ({ tenant, key }) => {
      const policy = config.policies.get(tenant.policy);
      if (policy === undefined) throw new Error('a tenant names a policy that is not loaded');
      const team = key.team === undefined ? undefined : (teamOf(tenant, key.team) ?? lockedOut(key.team));
      return { zone: jurisdiction, policy, tenant: tenant.id, team };
    },
  };
}
