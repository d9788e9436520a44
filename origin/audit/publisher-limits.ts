export const PUBLISHER_LIMITS = {
  /** How often it is looked whether a checkpoint is due, in ms: every record is covered within 60 s, better in 30. */
  lookMs: 20_000,
  /** After a failure it is tried again this much later, in ms. */
  retryMs: 5_000,
  /** Two checkpoints are at least this far apart, in ms, however many ask for one. */
  restMs: 1_000,
  /** How long the last checkpoint may take at the end, in ms. */
  finalMs: 5_000,
} as const;
