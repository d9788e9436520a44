import pino from 'pino';
import { AssertionCheck } from '../../origin/admit/assertion.ts';
import { BodyBudget } from '../../origin/admit/body-budget.ts';
import { UnderWay } from '../../origin/admit/under-way.ts';
import { receiptSigner } from '../../origin/audit/receipts.ts';
import { createRecordIds } from '../../origin/audit/record-id.ts';
import { RecordMaker } from '../../origin/audit/records.ts';
import { abandonOpenPendings } from '../../origin/audit/recovery.ts';
import type { OriginConfig } from '../../origin/config.ts';
import type { Pools } from '../../origin/forward/pools.ts';
import type { Gateway } from '../../origin/gateway.ts';
import { startLiveHealth } from '../../origin/live-health.ts';
import { countedLedger } from '../../origin/metrics/counted-ledger.ts';
import { prometheusMetrics } from '../../origin/metrics/prometheus.ts';
import { teamOf } from '../../origin/policy/tenants.ts';
import { originServer } from '../../origin/server.ts';
import type { Store } from '../../origin/store/store.ts';
import type { Life } from './life.ts';
import type { Wire } from './wire.ts';

export interface OriginParts {
  readonly config: OriginConfig;
  readonly life: Life;
  readonly store: Store;
  readonly pools: Pools;
  readonly random: () => number;
  readonly log: (line: string) => void;
}

/** An origin without a machine around it: all of its own parts, but no socket, disk or clock. */
export interface SimulatedOrigin {
  readonly life: Life;
  readonly health: Gateway['health'];
  /** Calls made with an assertion from this time on are taken, in ms since the epoch. */
  readonly startedAt: number;
  connect(wire: Wire): void;
  /** Ends as a process that was asked to. */
  stop(): Promise<void>;
}

/** Starts as `startOrigin` does: ends what the last process left open, takes up the circuits, then takes calls. */
export async function startSimulated(parts: OriginParts): Promise<SimulatedOrigin> {
  const { life, store, pools, random } = parts;
  const startedAt = Math.ceil(life.clock.now() / 1_000) * 1_000;
  const newId = createRecordIds(life.clock, random);
  await abandonOpenPendings({ store, clock: life.clock, newId });
  const gateway = await assemble(parts, newId, startedAt);
  const { server, drain } = originServer(gateway, async () => true);
  return {
    life,
    health: gateway.health,
    startedAt,
    connect: ({ far }) => server.emit('connection', far),
    stop: async () => {
      await drain();
      await gateway.health.close();
      await gateway.ledger.close();
      await store.close();
      await pools.close();
    },
  };
}

async function assemble(
  { config, life: { clock }, store, pools, random, log }: OriginParts,
  newId: () => string,
  startedAt: number,
): Promise<Gateway> {
  const { limits, jurisdiction: zone, edgeKeys: keys } = config;
  const logger = pino({ level: 'debug' }, { write: log });
  const records = new RecordMaker(clock, newId);
  const metrics = prometheusMetrics(config, logger);
  const { counts } = metrics;
  const appendMs = limits.ledger_ms;
  const ledger = countedLedger({ store, clock, newId, logger, counts, limits: { appendMs } });
  const watched = { config, clock, shelf: store, pools, ledger, records, logger, counts, random };
  return {
    config,
    clock,
    logger,
    newId,
    admission: {
      zone,
      assertions: new AssertionCheck({ keys, zone, clock, startedAt }),
      headerBytes: limits.header_bytes,
      tenant: (id) => config.tenants.get(id),
      rejected: () => undefined,
    },
    underWay: new UnderWay(limits.concurrent_requests),
    bodies: { limits, clock, budget: new BodyBudget(limits.buffered_body_bytes) },
    forwarder: { pools, clock, limits },
    ledger,
    records,
    health: await startLiveHealth(watched),
    metrics,
    receipts: receiptSigner(config.logName, config.signingKey),
    log: store,
    standpointOf: ({ tenant, key }) => {
      const policy = config.policies.get(tenant.policy);
      if (policy === undefined) throw new Error('a tenant names a policy that is not loaded');
      return {
        zone,
        policy,
        tenant: tenant.id,
        team: key.team === undefined ? undefined : teamOf(tenant, key.team),
      };
    },
  };
}
