import type { LogPolicy } from './log-source.ts';

/**
 * The policy versions that may have been in force in a span of time: of each policy those that came in it, and the
 * one before. One that was put back into force later cannot be told; where it was used, its records cite it.
 */
export function policiesInForce(
  kept: readonly LogPolicy[],
  { from, to }: { readonly from: string; readonly to: string },
): readonly LogPolicy[] {
  const byName = Map.groupBy(kept, ({ name }) => name);
  return [...byName.values()].flatMap((versions) => {
    const inTime = versions.filter(({ at }) => at <= to).toSorted((a, b) => (a.at < b.at ? -1 : 1));
    const before = inTime.findLastIndex(({ at }) => at <= from);
    return inTime.slice(Math.max(before, 0));
  });
}
