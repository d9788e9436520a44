import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeafProver } from '../../../../origin/audit/bundle/leaf-prover.ts';
import { leafHash } from '../../../../shared/merkle/hash.ts';
import { inclusionProof } from '../../../../shared/merkle/prove.ts';
import type { TileHashes } from '../../../../shared/merkle/tiles.ts';
import { tilesOf } from './sample-source.ts';

const LEAVES = Array.from({ length: 70_000 }, (_, index) => leafHash(String(index)));
const tiles = tilesOf(LEAVES);

/** Levels of a tree are made once: the tests read them often. */
const known = new Map<string, ReturnType<TileHashes['read']>>();
const hashes: TileHashes = {
  read: (level, first, count) => {
    const name = `${level}/${first}/${count}`;
    const read = known.get(name) ?? tiles.read(level, first, count);
    known.set(name, read);
    return read;
  },
};

describe('proofs made one after the other', () => {
  it('are those that are made one by one, in trees of any size', async () => {
    const place = fc
      .integer({ min: 1, max: 1_200 })
      .chain((size) => fc.tuple(fc.constant(size), fc.nat(size - 1)));
    await fc.assert(
      fc.asyncProperty(place, async ([size, index]) => {
        const prover = await LeafProver.over(size, hashes);
        expect(await prover.prove(index)).toEqual(await inclusionProof(index, size, hashes));
      }),
    );
  });

  it.each([256, 257, 65_536, 65_537, 66_000, 70_000])(
    'are right at the edges of tiles, size %i',
    async (size) => {
      const prover = await LeafProver.over(size, hashes);
      for (const index of [0, 255, 256, 65_535, 65_536, size - 2, size - 1].filter((one) => one < size)) {
        expect(await prover.prove(index)).toEqual(await inclusionProof(index, size, hashes));
      }
    },
  );

  it('read each tile once where the leaves come in order', async () => {
    const reads: string[] = [];
    const counted: TileHashes = {
      read: (level, first, count) => {
        reads.push(`${level}/${first}`);
        return hashes.read(level, first, count);
      },
    };
    const prover = await LeafProver.over(2_000, counted);
    reads.length = 0;
    for (let index = 0; index < 2_000; index += 1) await prover.prove(index);
    expect(new Set(reads).size).toBe(reads.length);
  });

  it('are not made of a place that the tree does not have', async () => {
    const prover = await LeafProver.over(5, hashes);
    for (const index of [-1, 5, 1.5, Number.NaN])
      await expect(prover.prove(index)).rejects.toThrow(RangeError);
  });
});
