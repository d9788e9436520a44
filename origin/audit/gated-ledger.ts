import { err } from '../../shared/result.ts';
import type { Ledger } from './ledger.ts';

/**
 * A ledger that takes no announcement of a call while the log must not go on, so that nothing is forwarded. What
 * has happened already is still written: it may be the only trace of it.
 */
export const gatedLedger = (ledger: Ledger, isShut: () => boolean): Ledger => ({
  append: (record) =>
    record.kind === 'pending' && isShut()
      ? Promise.resolve(err('ledger_unavailable'))
      : ledger.append(record),
  stats: () => {
    const stats = ledger.stats();
    return { ...stats, failing: stats.failing || isShut() };
  },
  close: () => ledger.close(),
});
