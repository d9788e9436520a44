import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EMPTY_ROOT, nodeHash } from '../../../shared/merkle/hash.ts';
import { consistencyProof, frontierOf, inclusionProof, rootOf } from '../../../shared/merkle/prove.ts';
import { verifyConsistency, verifyInclusion } from '../../../shared/merkle/verify-proof.ts';
import { numberedLeaves, referencePath, referenceProof, referenceRoot, tilesOf } from './reference-tree.ts';

const LEAVES = numberedLeaves(600);
const tiles = tilesOf(LEAVES);
const leafAt = (place: number): Uint8Array => LEAVES[place] ?? EMPTY_ROOT;

const sizes = fc.integer({ min: 1, max: LEAVES.length });
/** A place in a tree of a size. */
const places = sizes.chain((size) => fc.record({ size: fc.constant(size), index: fc.nat(size - 1) }));
/** Two sizes of one tree, the smaller first. */
const pairs = fc.tuple(sizes, sizes).map(([a, b]) => ({ from: Math.min(a, b), to: Math.max(a, b) }));

const inclusion = async (index: number, size: number) => ({
  index,
  size,
  leaf: leafAt(index),
  root: await rootOf(size, tiles),
  proof: await inclusionProof(index, size, tiles),
});

const consistency = async (from: number, to: number) => ({
  from,
  to,
  fromRoot: await rootOf(from, tiles),
  toRoot: await rootOf(to, tiles),
  proof: await consistencyProof(from, to, tiles),
});

/** The same bytes with one bit of one byte changed. */
function altered(bytes: Uint8Array, place: number): Uint8Array {
  const copy = Uint8Array.from(bytes);
  const at = place % copy.length;
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

/** The proof with each of its hashes altered in turn, dropped, and with one more. */
const spoilt = (proof: readonly Uint8Array[], byte: number): readonly (readonly Uint8Array[])[] => [
  ...proof.map((hash, place) => proof.with(place, altered(hash, byte))),
  ...proof.map((_, place) => proof.toSpliced(place, 1)),
  ...proof.map((hash, place) => proof.with(place, hash.subarray(1))),
  [...proof, EMPTY_ROOT],
  [EMPTY_ROOT, ...proof],
];

describe('an inclusion proof', () => {
  it('is the path that RFC 6962 defines, and holds, for every leaf of small trees', async () => {
    for (let size = 1; size <= 40; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const claim = await inclusion(index, size);
        expect(claim.proof.map(String)).toEqual(referencePath(index, LEAVES.slice(0, size)).map(String));
        expect(verifyInclusion(claim)).toBe(true);
      }
    }
  });

  it('holds for each leaf, and with no byte altered and no hash more or less', () =>
    fc.assert(
      fc.asyncProperty(places, fc.nat(31), async ({ index, size }, byte) => {
        const claim = await inclusion(index, size);
        expect(verifyInclusion(claim)).toBe(true);
        expect(verifyInclusion({ ...claim, leaf: altered(claim.leaf, byte) })).toBe(false);
        expect(verifyInclusion({ ...claim, root: altered(claim.root, byte) })).toBe(false);
        for (const proof of spoilt(claim.proof, byte))
          expect(verifyInclusion({ ...claim, proof })).toBe(false);
      }),
    ));

  it('holds for no other place, and for no other size with its own root', () =>
    fc.assert(
      fc.asyncProperty(places, sizes, async ({ index, size }, other) => {
        const claim = await inclusion(index, size);
        for (let place = 0; place <= size; place += 1) {
          expect(verifyInclusion({ ...claim, index: place })).toBe(place === index);
        }
        const resized = { ...claim, size: other, root: await rootOf(other, tiles) };
        expect(verifyInclusion(resized)).toBe(other === size);
      }),
      { numRuns: 30 },
    ));
});

describe('a consistency proof', () => {
  it('is the one that RFC 6962 defines, and holds, for every pair of small sizes', async () => {
    for (let to = 1; to <= 40; to += 1) {
      for (let from = 1; from <= to; from += 1) {
        const claim = await consistency(from, to);
        expect(claim.proof.map(String)).toEqual(referenceProof(from, LEAVES.slice(0, to)).map(String));
        expect(verifyConsistency(claim)).toBe(true);
      }
    }
  });

  it('holds for each pair of sizes, and with no byte altered and no hash more or less', () =>
    fc.assert(
      fc.asyncProperty(pairs, fc.nat(31), async ({ from, to }, byte) => {
        const claim = await consistency(from, to);
        expect(verifyConsistency(claim)).toBe(true);
        expect(verifyConsistency({ ...claim, fromRoot: altered(claim.fromRoot, byte) })).toBe(false);
        expect(verifyConsistency({ ...claim, toRoot: altered(claim.toRoot, byte) })).toBe(false);
        for (const proof of spoilt(claim.proof, byte))
          expect(verifyConsistency({ ...claim, proof })).toBe(false);
      }),
    ));

  it('holds for no other pair of sizes', () =>
    fc.assert(
      fc.asyncProperty(pairs, sizes, async ({ from, to }, other) => {
        fc.pre(other !== from && other !== to);
        const [claim, root] = [await consistency(from, to), await rootOf(other, tiles)];
        expect(verifyConsistency({ ...claim, from: other, fromRoot: root })).toBe(false);
        expect(verifyConsistency({ ...claim, to: other, toRoot: root })).toBe(false);
      }),
    ));

  it('holds from the empty tree with its own root alone, and with nothing to show', async () => {
    const claim = await consistency(0, 5);
    expect(claim.proof).toEqual([]);
    expect(verifyConsistency(claim)).toBe(true);
    expect(verifyConsistency({ ...claim, fromRoot: claim.toRoot })).toBe(false);
    expect(verifyConsistency({ ...claim, proof: [claim.toRoot] })).toBe(false);
    expect(verifyConsistency({ ...claim, to: 0, toRoot: EMPTY_ROOT })).toBe(true);
  });

  it('does not hold for two roots of one size, nor with something to show for one', async () => {
    const claim = await consistency(5, 5);
    expect(verifyConsistency({ ...claim, toRoot: altered(claim.toRoot, 0) })).toBe(false);
    expect(verifyConsistency({ ...claim, proof: [claim.toRoot] })).toBe(false);
  });

  it('does not hold from the larger tree to the smaller, even with one root for both', async () => {
    const { from, to, fromRoot, toRoot, proof } = await consistency(4, 7);
    expect(verifyConsistency({ from: to, to: from, fromRoot: toRoot, toRoot: fromRoot, proof })).toBe(false);
    expect(verifyConsistency({ from: 2, to: 1, fromRoot, toRoot: fromRoot, proof: [] })).toBe(false);
  });
});

describe('roots that belong to another size', () => {
  const above = nodeHash(leafAt(1), leafAt(0));

  it('are not reached by more hashes than a tree of that size is high', async () => {
    const included = { index: 0, size: 1, leaf: leafAt(0), root: above, proof: [leafAt(1)] };
    expect(verifyInclusion(included)).toBe(false);
    const { fromRoot, toRoot, proof } = await consistency(3, 4);
    const [older, newer] = [nodeHash(leafAt(9), fromRoot), nodeHash(leafAt(9), toRoot)];
    const grown = { from: 3, to: 4, fromRoot: older, toRoot: newer, proof: [...proof, leafAt(9)] };
    expect(verifyConsistency(grown)).toBe(false);
  });

  it('are not reached by fewer', async () => {
    const { leaf, root, proof } = await inclusion(0, 2);
    expect(verifyInclusion({ index: 0, size: 4, leaf, root, proof })).toBe(false);
    const grown = await consistency(1, 2);
    expect(verifyConsistency({ ...grown, to: 4 })).toBe(false);
  });
});

describe('a hostile proof', () => {
  const numbers = fc.oneof(
    fc.constantFrom(-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, 2 ** 64, 2 ** 53 - 1),
    fc.nat(20),
  );
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 40 }),
    fc.constantFrom<Uint8Array>(...LEAVES.slice(0, 4)),
  );
  const proofs = fc.array(bytes, { maxLength: 70 });

  it('is refused without an exception, whatever its numbers and lengths', () =>
    fc.assert(
      fc.property(numbers, numbers, bytes, bytes, proofs, (a, b, left, right, proof) => {
        verifyInclusion({ index: a, size: b, leaf: left, root: right, proof });
        verifyConsistency({ from: a, to: b, fromRoot: left, toRoot: right, proof });
      }),
    ));

  it.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'is refused with the number %d',
    async (bad) => {
      const [included, grown] = [await inclusion(0, 1), await consistency(1, 1)];
      expect(verifyInclusion({ ...included, index: bad })).toBe(false);
      expect(verifyInclusion({ ...included, size: bad })).toBe(false);
      expect(verifyConsistency({ ...grown, from: bad, to: bad })).toBe(false);
    },
  );

  it('is read to the end where a tree is as high as numbers go', () => {
    const index = 2 ** 52 + 1;
    const claim = { index, size: Number.MAX_SAFE_INTEGER, leaf: leafAt(0), root: leafAt(1) };
    const path = Array<Uint8Array>(53).fill(leafAt(2));
    expect(verifyInclusion({ ...claim, proof: path })).toBe(false);
  });
});

describe('proofs out of tiles', () => {
  it('give the root at sizes around full tiles', async () => {
    for (const size of [0, 1, 255, 256, 257, 511, 512, 513, 600]) {
      expect(await rootOf(size, tiles)).toEqual(referenceRoot(LEAVES.slice(0, size)));
      expect((await frontierOf(size, tiles)).size).toBe(size);
    }
  });

  it('read no tile twice, and at each level no more than two', async () => {
    const many = numberedLeaves(70_000);
    const tree = tilesOf(many);
    const root = await rootOf(many.length, tree);
    for (const index of [0, 255, 256, 33_333, 65_535, 65_536, 69_999]) {
      tree.reads.length = 0;
      const proof = await inclusionProof(index, many.length, tree);
      const leaf = many[index] ?? EMPTY_ROOT;
      expect(verifyInclusion({ index, size: many.length, leaf, root, proof })).toBe(true);
      expect(new Set(tree.reads).size).toBe(tree.reads.length);
      for (const level of [0, 1, 2]) {
        expect(tree.reads.filter((name) => name.startsWith(`${level}/`)).length).toBeLessThanOrEqual(2);
      }
    }
    tree.reads.length = 0;
    const proof = await consistencyProof(33_333, many.length, tree);
    const fromRoot = await rootOf(33_333, tilesOf(many.slice(0, 33_333)));
    expect(verifyConsistency({ from: 33_333, to: many.length, fromRoot, toRoot: root, proof })).toBe(true);
    expect(tree.reads.length).toBeLessThanOrEqual(6);
  });

  it.each([
    ['a leaf past the end', () => inclusionProof(5, 5, tiles)],
    ['a leaf of the empty tree', () => inclusionProof(0, 0, tiles)],
    ['a negative place', () => inclusionProof(-1, 5, tiles)],
    ['half a leaf', () => inclusionProof(0.5, 5, tiles)],
    ['a larger tree than the new one', () => consistencyProof(6, 5, tiles)],
    ['more leaves than there are', () => rootOf(601, tiles)],
  ])('are refused for %s', async (_, prove) => {
    await expect(prove()).rejects.toThrow(RangeError);
  });
});
