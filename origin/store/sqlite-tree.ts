import { HASH_BYTES } from '../../shared/merkle/hash.ts';
import type { Statements } from './sqlite-statements.ts';
import { StoreError } from './store.ts';
import { type CheckpointRow, COSIGNATURES_MAX, type TileRoot } from './tree-table.ts';

/** Keeps a checkpoint and its tile roots; the triggers of the tables refuse what must not be. */
export function publish(
  sql: Statements,
  checkpoint: Omit<CheckpointRow, 'number'>,
  roots: readonly TileRoot[],
): void {
  const { size, root, at, hour, note, cosignatures } = checkpoint;
  const number = Number(sql('SELECT max(number) AS number FROM checkpoints').get()?.number ?? -1) + 1;
  sql('INSERT INTO checkpoints (number, size, root, at, hour, note) VALUES (?, ?, ?, ?, ?, ?)').run(
    number,
    size,
    root,
    at,
    hour ?? null,
    note,
  );
  cosign(sql, number, cosignatures);
  const insert = sql('INSERT INTO tile_roots (level, place, hash) VALUES (?, ?, ?)');
  for (const { level, index, hash } of roots) insert.run(level, index, hash);
}

/** Puts signature lines to a checkpoint. */
export function cosign(sql: Statements, number: number, lines: readonly string[]): void {
  const insert = sql('INSERT INTO cosignatures (checkpoint, line) VALUES (?, ?)');
  for (const line of lines) insert.run(number, line);
  const kept = sql('SELECT count(*) AS lines FROM cosignatures WHERE checkpoint = ?').get(number)?.lines;
  if (Number(kept) > COSIGNATURES_MAX)
    throw new StoreError('rejected', `a checkpoint keeps ${COSIGNATURES_MAX} cosignatures at most`);
}

/** Hashes of a level behind one another, in one array: a thread passes that on faster than many small ones. */
export function hashes(sql: Statements, level: number, first: number, limit: number): Uint8Array {
  const rows =
    level === 0
      ? sql('SELECT leaf AS hash FROM records WHERE seq >= ? ORDER BY seq LIMIT ?').all(first, limit)
      : sql('SELECT hash FROM tile_roots WHERE level = ? AND place >= ? ORDER BY place LIMIT ?').all(
          level,
          first,
          limit,
        );
  const joined = new Uint8Array(rows.length * HASH_BYTES);
  for (const [index, { hash }] of rows.entries()) {
    if (!(hash instanceof Uint8Array) || hash.length !== HASH_BYTES)
      throw new StoreError('failed', 'the store holds a hash that is none. Restore the database.');
    joined.set(hash, index * HASH_BYTES);
  }
  return joined;
}

/** The hashes that were put behind one another. */
export const split = (joined: Uint8Array): Uint8Array[] =>
  Array.from({ length: joined.length / HASH_BYTES }, (_, index) =>
    joined.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
  );
