import pino from 'pino';
import { createRecordIds } from '../../origin/audit/record-id.ts';
import type { SignedHead } from '../../origin/audit/signed-head.ts';
import type { OriginConfig } from '../../origin/config.ts';
import type { Pools } from '../../origin/forward/pools.ts';
import type { Gateway } from '../../origin/gateway.ts';
import { build } from '../../origin/main.ts';
import { openLog } from '../../origin/open-log.ts';
import { originServer } from '../../origin/server.ts';
import type { Store } from '../../origin/store/store.ts';
import type { Life } from './life.ts';
import type { Wire } from './wire.ts';

export interface OriginParts {
  readonly config: OriginConfig;
  readonly life: Life;
  readonly store: Store;
  readonly head: SignedHead;
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
export async function startSimulated({
  config,
  life,
  store,
  head,
  pools,
  random,
  log,
}: OriginParts): Promise<SimulatedOrigin> {
  const { clock } = life;
  const startedAt = Math.ceil(clock.now() / 1_000) * 1_000;
  const newId = createRecordIds(clock, random);
  const logger = pino({ level: 'debug' }, { write: log });
  const opened = await openLog(config, { clock, logger, newId, store, head });
  const gateway = await build(config, { ...opened, clock, logger, pools, newId, startedAt, random });
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
      await gateway.publisher.close();
      await store.close();
      await pools.close();
    },
  };
}
