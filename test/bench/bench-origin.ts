import pino from 'pino';
import type { Ledger } from '../../origin/audit/ledger.ts';
import type { ReceiptSigner } from '../../origin/audit/receipts.ts';
import { createRecordIds } from '../../origin/audit/record-id.ts';
import { systemClock } from '../../origin/clock.ts';
import type { OriginConfig } from '../../origin/config.ts';
import { Pools } from '../../origin/forward/pools.ts';
import { listen } from '../../origin/listening.ts';
import { build } from '../../origin/main.ts';
import { openLog } from '../../origin/open-log.ts';
import { originServer } from '../../origin/server.ts';
import { ok } from '../../shared/result.ts';

/** The parts of a gateway that make evidence. */
export interface Evidence {
  readonly ledger: Ledger;
  readonly receipts: ReceiptSigner;
}

/**
 * Writes and signs nothing. It is there to be subtracted, and here alone: an origin that is started by its
 * configuration has no way to it.
 */
export const NO_EVIDENCE: Evidence = {
  ledger: {
    append: async ({ id, kind, at, request_id, pending_id, tenant }) =>
      ok({
        ...{ id, kind, at, requestId: request_id, pendingId: pending_id, tenant },
        ...{ canonical: '', leaf: NO_LEAF },
      }),
    stats: () => ({ queued: 0, groups: 0, records: 0, failing: false }),
    close: async () => undefined,
  },
  receipts: { sign: async () => 'none', signAgain: async () => 'none' },
};
const NO_LEAF = new Uint8Array(32);

export interface BenchOrigin {
  readonly url: string;
  /** Records in its log. */
  records(): Promise<number>;
  close(): Promise<void>;
}

/** Starts an origin in this process as `startOrigin` does, without its admin address. */
export async function startBenchOrigin(config: OriginConfig, evidence?: Evidence): Promise<BenchOrigin> {
  const clock = systemClock;
  // To the second, as the time of an assertion is.
  const startedAt = Math.floor(clock.now() / 1_000) * 1_000;
  const logger = pino({ level: 'error' }, pino.destination(process.stderr.fd));
  const newId = createRecordIds(clock);
  const log = await openLog(config, { clock, logger, newId });
  const pools = new Pools(config.limits, clock);
  const built = await build(config, { ...log, clock, logger, pools, newId, startedAt });
  const { server, drain } = originServer({ ...built, ...evidence }, async () => true);
  return {
    url: await listen(server, config.listen),
    records: () => log.store.size(),
    close: async () => {
      await drain();
      await built.health.close();
      await built.retention.close();
      await built.ledger.close();
      await log.publisher.close();
      await log.store.close();
      await pools.close();
    },
  };
}
