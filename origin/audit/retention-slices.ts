import type { HoldRow } from '../store/retention-table.ts';
import { type Store, StoreError } from '../store/store.ts';
import { controlRow } from './control-row.ts';
import type { HoldParts, Person } from './holds.ts';
import type { RetentionRule } from './retention-rules.ts';
import { isHeld } from './retention-tally.ts';
import type { Unit } from './retention-units.ts';
import { settled } from './settled-write.ts';

export interface SliceParts extends HoldParts {
  readonly store: Pick<Store, 'holds' | 'saveHold' | 'prune' | 'byId'>;
}

/** With this word the `control` record of a pruning begins. */
export const PRUNED = 'pruned';

/** How often a slice is tried, and the pause before it is tried again, in ms. */
const TRIES = 5;
const PAUSE_MS = 500;

/** The holds that are in force now. */
export const holdsInForce = async (store: Pick<Store, 'holds'>): Promise<readonly HoldRow[]> =>
  (await store.holds()).filter(({ releasedAt }) => releasedAt === undefined);

export interface Slice {
  readonly dropped: readonly Unit[];
  readonly held: readonly Unit[];
}

/**
 * Drops the bodies of some units with the `control` record that tells of it, all in one transaction: a crash
 * leaves either both or neither. A hold that was placed a moment ago is seen here, or by the store, which then
 * refuses. Rejects with StoreError.
 */
export async function dropSlice(
  parts: SliceParts,
  units: readonly Unit[],
  rule: RetentionRule,
  person: Person,
): Promise<Slice> {
  for (let tries = 1; ; tries += 1) {
    const holds = await holdsInForce(parts.store);
    const [held, free] = [
      units.filter((unit) => isHeld(unit, holds)),
      units.filter((unit) => !isHeld(unit, holds)),
    ];
    if (free.length === 0) return { dropped: [], held };
    try {
      await drop(parts, free.flat(), rule, person);
      return { dropped: free, held };
    } catch (cause) {
      if (tries === TRIES || !(cause instanceof StoreError) || cause.kind === 'closed') throw cause;
      await new Promise<void>((resolve) => void parts.clock.setTimeout(resolve, PAUSE_MS));
    }
  }
}

function drop(parts: SliceParts, records: Unit, rule: RetentionRule, { by, why }: Person): Promise<void> {
  const seqs = records.map(({ seq }) => seq);
  const times = records.map(({ at }) => at).toSorted();
  const words = `${PRUNED} ${seqs.length} records at places ${Math.min(...seqs)} to ${Math.max(...seqs)}, of ${times.at(0)} to ${times.at(-1)}, kept ${rule.days} days${BASIS[rule.basis]}: ${why}`;
  const told = controlRow(parts, by, words, {
    policy: rule.policy,
    policy_version: rule.version,
    policy_sha256: rule.sha256,
  });
  return settled(parts.store, told, () => parts.store.prune(told, seqs));
}

const BASIS: Readonly<Record<RetentionRule['basis'], string>> = {
  cited: '',
  in_force: ' by the version now in force',
  longest: ' as the longest of all policies',
};
