import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import type { Zone } from '../../shared/zones.ts';
import { CIRCUIT_KINDS } from '../health/circuit-kinds.ts';
import { countCall } from './call-counts.ts';
import { type Instruments, instruments } from './instruments.ts';
import { type KnownNames, knownNames, labelOf, type NameSource } from './known-names.ts';
import type { Counts, Levels, LogLevels, Metrics } from './metrics.ts';
import { countRecord } from './record-counts.ts';
import { seconds } from './seconds.ts';
import { unfailing } from './unfailing.ts';

export interface MetricsSetup extends NameSource {
  readonly jurisdiction: Zone;
}

/** The metrics of one origin; every one of them carries its zone. */
export function prometheusMetrics(setup: MetricsSetup, logger: Logger): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ jurisdiction: setup.jurisdiction });
  const made = instruments(registry);
  return {
    counts: unfailing(countsInto(made, knownNames(setup)), () =>
      logger.error('something could not be counted: /metrics is not complete from here on'),
    ),
    contentType: registry.contentType,
    text: (levels) => {
      setLevels(made, levels);
      return registry.metrics();
    },
  };
}

function countsInto(made: Instruments, known: KnownNames): Counts {
  return {
    recorded: (record) => countRecord(made, known, record),
    ended: (call, now) => countCall(made, known, call, now),
    probed: (id, { outcome, inputTokens, outputTokens }) => {
      const endpoint = labelOf(id, known.endpoint);
      made.probes.inc({ endpoint, outcome: outcome.kind });
      made.probeTokens.inc({ endpoint, type: 'input' }, inputTokens ?? 0);
      made.probeTokens.inc({ endpoint, type: 'output' }, outputTokens ?? 0);
    },
    committed: (size) => made.groups.observe(size),
    lost: (kind) => made.lost.inc({ kind }),
  };
}

function setLevels(made: Instruments, { circuits, ledger, callsUnderWay, log, logBroken }: Levels): void {
  made.circuits.reset();
  for (const [endpoint, { circuit }] of circuits) {
    for (const state of Object.values(CIRCUIT_KINDS)) {
      made.circuits.set({ endpoint, state }, circuit.kind === state ? 1 : 0);
    }
  }
  made.queued.set(ledger.queued);
  made.failing.set(ledger.failing ? 1 : 0);
  made.underWay.set(callsUnderWay);
  made.broken.set(logBroken ? 1 : 0);
  setLog(made, log);
}

/** What cannot be told is left out: an old number would look like a log that stands still. */
function setLog({ logRecords, checkpointAge, overdue }: Instruments, log: LogLevels | undefined): void {
  for (const gauge of [logRecords, checkpointAge, overdue]) gauge.reset();
  if (log === undefined) return;
  const { sequenced, published, witnessed } = log.states;
  for (const [state, size] of Object.entries({ recorded: sequenced, sequenced, published, witnessed }))
    logRecords.set({ state }, size);
  if (log.checkpointAgeMs !== undefined) checkpointAge.set(seconds(log.checkpointAgeMs));
  overdue.set(log.overdue);
}
