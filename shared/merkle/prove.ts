import { Frontier } from './frontier.ts';
import { largestPowerBelow, perfectParts, type Range } from './ranges.ts';
import { nodesOf } from './tile-reader.ts';
import type { TileHashes } from './tiles.ts';

/** Proof that leaf `index` is in the tree of `size` leaves, leaf's sibling first, RFC 6962 section 2.1.1. */
export async function inclusionProof(
  index: number,
  size: number,
  hashes: TileHashes,
): Promise<readonly Uint8Array[]> {
  assertPlace(index, size - 1);
  const { siblings } = descend(index, size, ({ from, to }) => to - from === 1);
  return nodesOf(siblings, size, hashes);
}

/** Proof that the tree of `from` leaves begins the one of `to`, RFC 6962 section 2.1.2; empty from 0 or the same. */
export async function consistencyProof(
  from: number,
  to: number,
  hashes: TileHashes,
): Promise<readonly Uint8Array[]> {
  assertPlace(from, to);
  if (from === 0 || from === to) return [];
  const { node, siblings } = descend(from - 1, to, (range) => range.to === from);
  return nodesOf(node.from === 0 ? siblings : [node, ...siblings], to, hashes);
}

/** Root of the tree of the first `size` leaves. */
export const rootOf = async (size: number, hashes: TileHashes): Promise<Uint8Array> =>
  (await frontierOf(size, hashes)).root();

/** Right edge of the tree of the first `size` leaves, to append to. */
export async function frontierOf(size: number, hashes: TileHashes): Promise<Frontier> {
  assertPlace(size, Number.MAX_SAFE_INTEGER);
  const edge = Frontier.of(size, await nodesOf(perfectParts({ from: 0, to: size }), size, hashes));
  if (edge === undefined)
    throw new RangeError('the hashes that were read do not make up a tree of that size');
  return edge;
}

/** Goes from the root towards a leaf until `found`, and notes the nodes that it leaves aside, lowest first. */
function descend(
  leaf: number,
  size: number,
  found: (node: Range) => boolean,
): { node: Range; siblings: readonly Range[] } {
  let node: Range = { from: 0, to: size };
  const siblings: Range[] = [];
  while (!found(node)) {
    const middle = node.from + largestPowerBelow(node.to - node.from);
    const [left, right] = [
      { from: node.from, to: middle },
      { from: middle, to: node.to },
    ];
    siblings.unshift(leaf < middle ? right : left);
    node = leaf < middle ? left : right;
  }
  return { node, siblings };
}

function assertPlace(place: number, most: number): void {
  if (!Number.isSafeInteger(place) || place < 0 || place > most || !Number.isSafeInteger(most)) {
    throw new RangeError(`no such place in the tree: ${place} of ${most}`);
  }
}
