import { overduePendings, pendingDeadlineMs } from '../audit/overdue.ts';
import type { Gateway } from '../gateway.ts';
import type { Levels, LogLevels } from '../metrics/metrics.ts';

/** What stands at a level at this moment, for the metrics. */
export async function levelsOf(gateway: Gateway): Promise<Levels> {
  const { health, ledger, underWay, config, publisher } = gateway;
  return {
    circuits: health.orders.list(config.registry.keys()),
    ledger: ledger.stats(),
    callsUnderWay: underWay.calls,
    // A store that cannot be read just now must not take the other metrics with it.
    log: await logLevels(gateway).catch(() => undefined),
    logBroken: publisher.broken !== undefined,
  };
}

async function logLevels({ log, clock, config, publisher }: Gateway): Promise<LogLevels> {
  const states = await publisher.published.states();
  const { publishedAt } = states;
  return {
    states,
    checkpointAgeMs: publishedAt === undefined ? undefined : clock.now() - Date.parse(publishedAt),
    overdue: (await overduePendings(log, clock, pendingDeadlineMs(config.limits))).length,
  };
}
