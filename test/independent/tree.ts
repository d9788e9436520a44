import { at, type Bytes, join, same } from './encoding.ts';
import { Fault } from './fault.ts';

const sha256 = async (...parts: readonly Uint8Array[]): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', join(...parts)));

/** RFC 6962 §2.1: leaves and nodes are hashed apart, so that neither passes for the other. */
export const hashLeaf = (entry: Uint8Array): Promise<Bytes> => sha256(Uint8Array.of(0), entry);
export const hashNode = (left: Uint8Array, right: Uint8Array): Promise<Bytes> =>
  sha256(Uint8Array.of(1), left, right);

/** MTH (RFC 6962 §2.1) over hashes of leaves, or over the roots of full trees of one height. */
export async function rootOf(hashes: readonly Bytes[]): Promise<Bytes> {
  if (hashes.length === 0) return sha256();
  let row = hashes;
  while (row.length > 1) {
    const pairs = row.flatMap((left, i) => (i % 2 === 0 ? [{ left, right: row[i + 1] }] : []));
    row = await Promise.all(pairs.map(({ left, right }) => (right ? hashNode(left, right) : left)));
  }
  return at(row, 0);
}

/** The `k` of RFC 6962 §2.1: the largest power of two smaller than `n`, for `n` > 1. */
export const splitOf = (n: number): number => {
  let k = 1;
  while (k * 2 < n) k *= 2;
  return k;
};

/** The root that an audit path (RFC 6962 §2.1.1) leads to from the leaf of that index. */
export async function rootOfPath(
  index: number,
  size: number,
  leaf: Bytes,
  path: readonly Bytes[],
): Promise<Bytes> {
  if (index >= size) throw new Fault('not_included', 'index is outside the tree');
  if (size === 1) {
    if (path.length > 0) throw new Fault('not_included', 'path is too long');
    return leaf;
  }
  const [sibling, inner, k] = [path.at(-1), path.slice(0, -1), splitOf(size)];
  if (sibling === undefined) throw new Fault('not_included', 'path is too short');
  if (index < k) return hashNode(await rootOfPath(index, k, leaf, inner), sibling);
  return hashNode(sibling, await rootOfPath(index - k, size - k, leaf, inner));
}

/** Throws unless the proof (RFC 6962 §2.1.2) shows that the first tree is the beginning of the second. */
export async function requireConsistency(
  older: { readonly size: number; readonly root: Bytes },
  newer: { readonly size: number; readonly root: Bytes },
  proof: readonly Bytes[],
): Promise<void> {
  const [m, n] = [older.size, newer.size];
  if (m > n) throw new Fault('inconsistent', 'the log has become shorter');
  if (m === 0) {
    if (proof.length > 0) throw new Fault('inconsistent', 'proof is too long');
    if (!same(older.root, await rootOf([])))
      throw new Fault('inconsistent', 'root of an empty tree is fixed');
    if (n > 0) return;
  }
  const [before, after] = m === 0 ? [older.root, older.root] : await rootsOf(m, n, true, older.root, proof);
  if (!same(before, older.root) || !same(after, newer.root))
    throw new Fault('inconsistent', 'the older tree is not the beginning of the newer');
}

/** Undoes SUBPROOF(m, D[n], b): the roots of the first m and of all n leaves that its hashes lead to. */
async function rootsOf(
  m: number,
  n: number,
  whole: boolean,
  known: Bytes,
  proof: readonly Bytes[],
): Promise<readonly [Bytes, Bytes]> {
  if (m === n) {
    if (proof.length !== (whole ? 0 : 1)) throw new Fault('inconsistent', 'proof is too long or too short');
    const root = whole ? known : at(proof, 0);
    return [root, root];
  }
  const [sibling, inner, k] = [proof.at(-1), proof.slice(0, -1), splitOf(n)];
  if (sibling === undefined) throw new Fault('inconsistent', 'proof is too short');
  if (m <= k) {
    const [before, after] = await rootsOf(m, k, whole, known, inner);
    return [before, await hashNode(after, sibling)];
  }
  const [before, after] = await rootsOf(m - k, n - k, false, known, inner);
  return [await hashNode(sibling, before), await hashNode(sibling, after)];
}
