export const LEDGER_LIMITS = {
  /** Longest wait of a caller for its record to be durable, in milliseconds. */
  appendMs: 3_000,
  /** Most records in one commit: beyond, a commit grows longer and no record cheaper. */
  groupMax: 256,
  /** Most records that wait. Half of it is kept for the records of calls under way, so that these can end. */
  queueMax: 8_192,
  /** Pause before a store that failed is tried again, in milliseconds. */
  retryMs: 250,
  /** Longest that closing waits for records to become durable, in milliseconds. */
  drainMs: 5_000,
};

export type LedgerLimits = typeof LEDGER_LIMITS;
