import { type CheckpointRow, COSIGNATURES_MAX, type TileRoot } from '../../origin/store/tree-table.ts';
import { rejected } from './memory-log.ts';
import type { MemoryTables } from './memory-tables.ts';

export function publish(
  { rows, checkpoints, tileRoots }: MemoryTables,
  checkpoint: Omit<CheckpointRow, 'number'>,
  roots: readonly TileRoot[],
): void {
  const newest = checkpoints.at(-1);
  const { size, root } = checkpoint;
  if (size > rows.length) throw rejected('of more records than the log has');
  if (newest !== undefined && size < newest.size) throw rejected('smaller than the newest');
  if (newest?.size === size && Buffer.compare(newest.root, root) !== 0) throw rejected('another root');
  const levels = new Map([...tileRoots].map(([level, hashes]) => [level, [...hashes]]));
  for (const { level, index, hash } of roots) {
    const hashes = levels.get(level) ?? [];
    if (level < 1 || index !== hashes.length) throw rejected('not the next one of its level');
    levels.set(level, [...hashes, hash]);
  }
  checkpoints.push({ ...checkpoint, number: checkpoints.length });
  for (const [level, hashes] of levels) tileRoots.set(level, hashes);
}

export function cosign({ checkpoints }: MemoryTables, number: number, lines: readonly string[]): void {
  const checkpoint = checkpoints[number];
  if (checkpoint === undefined) throw rejected('there is no such checkpoint');
  const cosignatures = [...new Set([...checkpoint.cosignatures, ...lines])];
  if (cosignatures.length > COSIGNATURES_MAX) throw rejected('too many cosignatures');
  checkpoints[number] = { ...checkpoint, cosignatures };
}

export const hashesOf = ({ rows, tileRoots }: MemoryTables, level: number): readonly Uint8Array[] =>
  level === 0 ? rows.map(({ leaf }) => leaf) : (tileRoots.get(level) ?? []);

/** The earlier first; of one time, the one that was signed first. */
export const byTime = ({ checkpoints }: MemoryTables): readonly CheckpointRow[] =>
  checkpoints.toSorted((one, other) =>
    one.at === other.at ? one.number - other.number : one.at < other.at ? -1 : 1,
  );
