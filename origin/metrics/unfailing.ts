import type { Counts } from './metrics.ts';

/**
 * Counts that never throw: what cannot be counted is not counted, and the call that it was about goes on.
 *
 * @param failed told of the first failure, and of no other: it would be told with every call
 */
export function unfailing(counts: Counts, failed: (cause: unknown) => void): Counts {
  let told = false;
  const safely = (count: () => void): void => {
    try {
      count();
    } catch (cause) {
      if (told) return;
      told = true;
      failed(cause);
    }
  };
  return {
    recorded: (record) => safely(() => counts.recorded(record)),
    ended: (call, now) => safely(() => counts.ended(call, now)),
    probed: (endpoint, result) => safely(() => counts.probed(endpoint, result)),
    committed: (size) => safely(() => counts.committed(size)),
    lost: (kind) => safely(() => counts.lost(kind)),
  };
}
