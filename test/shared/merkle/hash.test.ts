import { describe, expect, it } from 'vitest';
import { Frontier } from '../../../shared/merkle/frontier.ts';
import { EMPTY_ROOT, leafHash, nodeHash } from '../../../shared/merkle/hash.ts';
import { numberedLeaves, referenceRoot } from './reference-tree.ts';

/** The leaves of the tree that implementations of RFC 6962 share as their example, and its root at each size. */
const ENTRIES = [
  '',
  '00',
  '10',
  '2021',
  '3031',
  '40414243',
  '5051525354555657',
  '606162636465666768696a6b6c6d6e6f',
];
const ROOTS = [
  'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
  'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
  'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
  'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
  '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
  '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
  'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
  '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
];
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

describe('the hashes of RFC 6962', () => {
  it('gives the known root of the example tree at each size', () => {
    const edge = Frontier.empty();
    const roots = [hex(edge.root())];
    for (const entry of ENTRIES) {
      edge.append(leafHash(Buffer.from(entry, 'hex')));
      roots.push(hex(edge.root()));
    }
    expect(roots).toEqual(ROOTS);
    expect(hex(EMPTY_ROOT)).toBe(ROOTS[0]);
  });

  it('hashes a text as its UTF-8 bytes', () => {
    const text = '{"tenant":"größe","x":"\u0000 😀"}';
    expect(leafHash(text)).toEqual(leafHash(Buffer.from(text)));
  });

  it('never takes a leaf for an inner node', () => {
    const [left, right] = [leafHash('a'), leafHash('b')];
    expect(leafHash(Buffer.concat([left, right]))).not.toEqual(nodeHash(left, right));
  });

  it('throws on a node of what is no hash, as one buffer serves all calls', () => {
    expect(() => nodeHash(leafHash('a'), Buffer.alloc(31))).toThrow(RangeError);
    expect(() => nodeHash(Buffer.alloc(33), leafHash('a'))).toThrow(RangeError);
  });
});

describe('the edge of a tree', () => {
  const leaves = numberedLeaves(130);

  it('gives the root of every prefix, also after it was taken up from its hashes', () => {
    let edge = Frontier.empty();
    for (const [place, leaf] of leaves.entries()) {
      edge.append(leaf);
      const resumed = Frontier.of(edge.size, edge.hashes());
      if (resumed === undefined) throw new Error('the edge does not know its own hashes');
      edge = resumed;
      expect(edge.size).toBe(place + 1);
      expect(hex(edge.root())).toBe(hex(referenceRoot(leaves.slice(0, place + 1))));
    }
  });

  it('is not changed by who reads it', () => {
    const edge = Frontier.empty();
    for (const leaf of leaves.slice(0, 3)) edge.append(leaf);
    const [before, kept] = [edge.root(), edge.hashes()];
    edge.append(leaves[3] ?? EMPTY_ROOT);
    expect(kept).toHaveLength(2);
    expect(Frontier.of(3, kept)?.root()).toEqual(before);
  });

  it.each([
    ['too few hashes', 3, [EMPTY_ROOT]],
    ['too many hashes', 4, [EMPTY_ROOT, EMPTY_ROOT]],
    ['a hash that is too short', 1, [Buffer.alloc(31)]],
    ['a negative size', -1, []],
    ['half a leaf', 0.5, []],
    ['a size beyond what a number holds', 2 ** 53, [EMPTY_ROOT]],
  ])('is none for %s', (_, size, hashes) => {
    expect(Frontier.of(size, hashes)).toBeUndefined();
  });

  it('takes the hashes of a tree as large as a number can say', () => {
    const size = Number.MAX_SAFE_INTEGER;
    expect(Frontier.of(size, Array(53).fill(EMPTY_ROOT))?.size).toBe(size);
  });
});
