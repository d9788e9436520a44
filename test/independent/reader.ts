import { readCanonical } from './canonical.ts';
import { type Checkpoint, openCheckpoint } from './checkpoint.ts';
import { at, type Bytes, bytesOf, fromBase64, fromDecimal, same, textOf } from './encoding.ts';
import { Fault } from './fault.ts';
import {
  consistencyProof,
  type FetchPath,
  fetchTile,
  TILE_WIDTH,
  Tiles,
  tilePath,
  widthOf,
} from './tiles.ts';
import { hashLeaf, requireConsistency, rootOf, rootOfPath } from './tree.ts';

/** Leaves of one reading: all are held at once. */
const MOST_LEAVES = 4_000_000;

export interface Leaf {
  readonly hash: Bytes;
  /** The canonical JSON that the log holds, and the value that it stands for. */
  readonly entry: string;
  readonly record: unknown;
}

export interface ReadLog extends Checkpoint {
  readonly leaves: readonly Leaf[];
}

/** Reads a whole C2SP tlog-tiles log and checks every hash in it; throws Fault at the first that is wrong. */
export async function readLog(
  fetchPath: FetchPath,
  vkey: string,
  witnesses: readonly string[] = [],
): Promise<ReadLog> {
  const checkpoint = await openCheckpoint(textOf(await fetchPath('checkpoint')), vkey, witnesses);
  if (checkpoint.size > MOST_LEAVES) throw new Fault('too_large', 'more leaves than one reading takes');
  const tiles = new Tiles(fetchPath, checkpoint.size);
  const hashes = await readLevels(tiles);
  const root = checkpoint.size === 0 ? await rootOf([]) : await tiles.subtree(0, checkpoint.size);
  if (!same(root, checkpoint.root)) throw new Fault('wrong_hash', 'tiles lead to another root');
  const leaves: Leaf[] = [];
  for (let index = 0; index * TILE_WIDTH < checkpoint.size; index += 1) {
    const entries = await readBundle(fetchPath, index, widthOf(checkpoint.size, index));
    const first = index * TILE_WIDTH;
    leaves.push(...(await Promise.all(entries.map((entry, i) => readLeaf(entry, at(hashes, first + i))))));
  }
  return { ...checkpoint, leaves };
}

/** Every tile of every level, each checked against the level below; gives the hashes of the leaves. */
async function readLevels(tiles: Tiles): Promise<readonly Bytes[]> {
  const rows: (readonly Bytes[])[] = [];
  for (let level = 0; tiles.count(level) > 0; level += 1) {
    const row: Bytes[] = [];
    for (let index = 0; index * TILE_WIDTH < tiles.count(level); index += 1)
      row.push(...(await tiles.hashes(level, index)));
    const below = rows.at(-1) ?? [];
    for (const [i, hash] of level === 0 ? [] : row.entries())
      if (!same(hash, await rootOf(below.slice(i * TILE_WIDTH, (i + 1) * TILE_WIDTH))))
        throw new Fault('wrong_hash', `hash ${i} of level ${level} is not of the tile below`);
    rows.push(row);
  }
  return rows[0] ?? [];
}

/** The first `width` entries of a bundle, which is a row of entries with their lengths as uint16 before them. */
async function readBundle(fetchPath: FetchPath, index: number, width: number): Promise<Uint8Array[]> {
  const { bytes, width: fetched } = await fetchTile(fetchPath, 'entries', index, width);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries: Uint8Array[] = [];
  let offset = 0;
  while (offset + 2 <= bytes.length) {
    const end = offset + 2 + view.getUint16(offset);
    if (end > bytes.length) break;
    entries.push(bytes.subarray(offset + 2, end));
    offset = end;
  }
  if (offset !== bytes.length || entries.length !== fetched)
    throw new Fault('malformed', `${tilePath('entries', index, fetched)} is not a bundle of its width`);
  return entries.slice(0, width);
}

async function readLeaf(entry: Uint8Array, hash: Bytes): Promise<Leaf> {
  if (!same(await hashLeaf(entry), hash))
    throw new Fault('wrong_hash', 'an entry is not the one of its leaf');
  return { hash, entry: textOf(entry), record: readCanonical(entry) };
}

/** Checks a C2SP tlog-proof of an entry; gives the index and the checkpoint that it is proven in. */
export async function checkTlogProof(
  text: string,
  vkey: string,
  entry: string,
  witnesses: readonly string[] = [],
): Promise<{ readonly index: number; readonly checkpoint: Checkpoint }> {
  const cut = text.indexOf('\n\n');
  if (cut === -1) throw new Fault('malformed', 'no checkpoint in the proof');
  const [header, second = '', ...rest] = text.slice(0, cut).split('\n');
  if (header !== 'c2sp.org/tlog-proof@v1') throw new Fault('malformed', 'not a tlog-proof');
  const extra = second.startsWith('extra ');
  if (extra) fromBase64(second.slice('extra '.length));
  const [indexLine = '', ...hashLines] = extra ? rest : [second, ...rest];
  if (!indexLine.startsWith('index ')) throw new Fault('malformed', 'no index in the proof');
  const index = fromDecimal(indexLine.slice('index '.length));
  const path = hashLines.map((line) => fromBase64(line));
  if (path.some(({ length }) => length !== 32)) throw new Fault('malformed', 'a hash of another length');
  const checkpoint = await openCheckpoint(text.slice(cut + 2), vkey, witnesses);
  const root = await rootOfPath(index, checkpoint.size, await hashLeaf(bytesOf(entry)), path);
  if (!same(root, checkpoint.root)) throw new Fault('not_included', 'path leads to another root');
  return { index, checkpoint };
}

/** Checks, with the tiles that the log serves now, that an older checkpoint is the beginning of a newer. */
export async function checkConsistency(
  older: string,
  newer: string,
  vkey: string,
  fetchPath: FetchPath,
): Promise<void> {
  const [before, after] = [await openCheckpoint(older, vkey), await openCheckpoint(newer, vkey)];
  const provable = before.size > 0 && before.size <= after.size;
  const tiles = new Tiles(fetchPath, after.size);
  const proof = provable ? await consistencyProof(tiles, before.size, after.size) : [];
  await requireConsistency(before, after, proof);
}
