import type { Gateway } from './gateway.ts';
import type { Store } from './store/store.ts';

/** How long an answer holds, in ms: probing writes, and anybody may ask. */
const HOLDS_MS = 1_000;

/** Whether the log can be written now. However many ask at once, the store is asked once a second at most. */
export function readiness(
  { ledger, clock }: Pick<Gateway, 'ledger' | 'clock'>,
  store: Store,
): () => Promise<boolean> {
  let known: Promise<boolean> | undefined;
  return () => {
    if (ledger.stats().failing) return Promise.resolve(false);
    known ??= store
      .ready()
      .then(
        () => true,
        () => false,
      )
      .finally(() => clock.setTimeout(() => (known = undefined), HOLDS_MS));
    return known;
  };
}
