import type { Logger } from 'pino';
import { createLedger, type Ledger, type LedgerEvents, type LedgerSetup } from '../audit/ledger.ts';
import type { Counts } from './metrics.ts';

export interface CountedLedgerSetup extends Omit<LedgerSetup, 'events'> {
  readonly logger: Logger;
  readonly counts: Counts;
}

/** A ledger whose records are counted as they are handed to it, and whose state an operator can follow. */
export function countedLedger({ logger, counts, ...setup }: CountedLedgerSetup): Ledger {
  const ledger = createLedger({ ...setup, events: ledgerEvents(logger, counts) });
  return {
    append: (record) => {
      counts.recorded(record);
      return ledger.append(record);
    },
    stats: () => ledger.stats(),
    close: () => ledger.close(),
  };
}

/** What the log's own state says to the operator; each line once for each change, none for each record. */
const ledgerEvents = (logger: Logger, counts: Counts): LedgerEvents => ({
  committed: (size) => counts.committed(size),
  failing: ({ message }) =>
    logger.error({ fault: message }, 'the audit log cannot be written: nothing is forwarded'),
  recovered: () => logger.info('the audit log can be written again'),
  lost: ({ id, kind }) => {
    counts.lost(kind);
    logger.error({ id, kind }, 'a record could not be kept');
  },
});
