import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newTileRoots } from '../../../shared/merkle/tile-roots.ts';
import { parseTilePath, TILE_WIDTH, type TileHashes, tilePath } from '../../../shared/merkle/tiles.ts';
import { numberedLeaves, tilesOf } from './reference-tree.ts';

describe('the path of a tile', () => {
  it.each([
    ['tile/0/000', 0, 0, 256],
    ['tile/0/x001/x234/067', 0, 1_234_067, 256],
    ['tile/1/000.p/17', 1, 0, 17],
    ['tile/63/x001/000.p/255', 63, 1000, 255],
    ['tile/entries/999', 'entries', 999, 256],
    ['tile/entries/x001/000.p/1', 'entries', 1000, 1],
  ] as const)('%s is written and read as C2SP tlog-tiles has it', (path, level, index, width) => {
    expect(tilePath(level, index, width)).toBe(path);
    expect(parseTilePath(path)).toEqual({ level, index, width });
  });

  it.each([
    ['a level with a leading zero', 'tile/00/000'],
    ['a level above 63', 'tile/64/000'],
    ['a negative level', 'tile/-1/000'],
    ['an unknown kind', 'tile/data/000'],
    ['an index of two digits', 'tile/0/12'],
    ['an index without x before its last part', 'tile/0/001/234'],
    ['an x before the last part', 'tile/0/x001/x234'],
    ['a needless first part', 'tile/0/x000/001'],
    ['an empty part', 'tile/0//001'],
    ['a width of zero', 'tile/0/000.p/0'],
    ['a width with a leading zero', 'tile/0/000.p/01'],
    ['a partial tile of full width', 'tile/0/000.p/256'],
    ['a width above a tile', 'tile/0/000.p/300'],
    ['a slash at the end', 'tile/0/000/'],
    ['a slash at the start', '/tile/0/000'],
    ['another way out', 'tile/0/../000'],
    ['digits of another script', 'tile/0/٠٠٠'],
    ['a newline at the end', 'tile/0/000\n'],
    ['an index beyond what a number holds', `tile/0/${'x999/'.repeat(5)}999`],
    ['the first index beyond', 'tile/0/x009/x007/x199/x254/x740/992'],
    ['more parts than any log needs', `tile/0/${'x001/'.repeat(50)}001`],
    ['nothing', ''],
  ])('is refused with %s', (_, path) => {
    expect(parseTilePath(path)).toBeUndefined();
  });

  it('is read back as it was written', () =>
    fc.assert(
      fc.property(fc.nat(63), fc.maxSafeNat(), fc.integer({ min: 1, max: 256 }), (level, index, width) => {
        expect(parseTilePath(tilePath(level, index, width))).toEqual({ level, index, width });
      }),
    ));
});

describe('roots of tiles that become full', () => {
  const LEAVES = numberedLeaves(TILE_WIDTH * TILE_WIDTH + 700);
  const tree = tilesOf(LEAVES);

  /** What a store holds of a tree of `size` leaves above its leaves, so that a read beyond is a fault. */
  const storedAt = (size: number): TileHashes => ({
    async read(level, first, count) {
      if (level > 0 && first + count > Math.floor(size / TILE_WIDTH ** level))
        throw new Error('not stored yet');
      return tree.read(level, first, count);
    },
  });

  it.each([
    ['from the first leaf', 0, LEAVES.length, 258 + 1],
    ['up to the last leaf of a tile', 200, 256, 1],
    ['within one tile', 257, 511, 0],
    ['over the end of the first tile of tiles', 65_535, 65_537, 1 + 1],
    ['over many tiles', 65_000, LEAVES.length, 258 - 253 + 1],
    ['without growth', 65_536, 65_536, 0],
  ])('%s: each once, and each as the tree has it', async (_, from, to, count) => {
    const roots = await newTileRoots(from, to, storedAt(from));
    expect(roots).toHaveLength(count);
    for (const { level, index, hash } of roots) expect([hash]).toEqual(await tree.read(level, index, 1));
    const names = roots.map(({ level, index }) => `${level}/${index}`);
    expect(new Set(names).size).toBe(count);
  });
});
