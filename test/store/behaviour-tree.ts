import { describe, expect, it } from 'vitest';
import { READ_MAX } from '../../origin/store/store.ts';
import { type CheckpointRow, COSIGNATURES_MAX, type TileRoot } from '../../origin/store/tree-table.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import type { Opened } from './behaviour.ts';

const hash = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

/** A checkpoint of so many rows, whose root follows from that. */
export const aCheckpoint = (
  size: number,
  members: Partial<CheckpointRow> = {},
): Omit<CheckpointRow, 'number'> => ({
  size,
  root: hash(size),
  at: '2026-01-01T00:00:00.000Z',
  hour: undefined,
  note: `residency.example/eu\n${size}\n`,
  cosignatures: [],
  ...members,
});

const root = (level: number, index: number): TileRoot => ({ level, index, hash: hash(16 * level + index) });

const minute = (minutes: number): string => `2026-01-01T00:${String(minutes).padStart(2, '0')}:00.000Z`;

/** What every store must do with the tree over its log. */
export function treeBehaviour(name: string, opened: Opened): void {
  const sizes = async () => (await opened.store.checkpoints(-1, 100)).map(({ size }) => size);
  const bytes = async (level: number, first = 0, limit = 100) =>
    (await opened.store.hashes(level, first, limit)).map((found) => [...found]);

  describe(`${name}: checkpoints`, () => {
    it('has none at first, then each as it was given, in the order of signing, over a restart', async () => {
      expect(await opened.store.latestCheckpoint()).toBeUndefined();
      const full = aCheckpoint(2, { hour: minute(0), note: 'log\n2\n\n— ünï 𝔘\n', cosignatures: ['— w x'] });
      await opened.store.publish(aCheckpoint(0), []);
      await opened.store.append(someRows(2));
      await opened.store.publish(full, []);
      await opened.reopen();
      const [first, second] = await opened.store.checkpoints(-1, 10);
      expect(first).toMatchObject({ number: 0, ...aCheckpoint(0), root: expect.any(Uint8Array) });
      expect({ ...second, root: [...(second?.root ?? [])] }).toEqual({
        ...full,
        number: 1,
        root: [...hash(2)],
      });
      expect(await opened.store.latestCheckpoint()).toEqual(second);
      expect(await opened.store.size()).toBe(2);
    });

    it('takes one of the same size and root again, as an hour without records needs it', async () => {
      await opened.store.append(someRows(1));
      await opened.store.publish(aCheckpoint(1), []);
      await opened.store.publish(aCheckpoint(1, { at: minute(1), hour: minute(0) }), []);
      expect(await sizes()).toEqual([1, 1]);
    });

    it.each([
      ['is smaller than what was signed', aCheckpoint(2), []],
      ['has another root for the size that was signed', aCheckpoint(3, { root: hash(9) }), []],
      ['covers more rows than there are', aCheckpoint(6), []],
      ['brings a tile root that is not the next of its level', aCheckpoint(4), [root(2, 0), root(1, 2)]],
      ['brings a tile root that is there', aCheckpoint(4), [root(1, 1), root(1, 0)]],
      ['brings the root of a leaf', aCheckpoint(4), [root(0, 0)]],
    ])('rejects one that %s, keeps nothing of it, and goes on', async (_, checkpoint, roots) => {
      await opened.store.append(someRows(5));
      await opened.store.publish(aCheckpoint(3), [root(1, 0)]);
      await expect(opened.store.publish(checkpoint, roots)).rejects.toMatchObject({ kind: 'rejected' });
      await opened.store.publish(aCheckpoint(5), [root(1, 1), root(2, 0)]);
      expect(await sizes()).toEqual([3, 5]);
      expect([await bytes(1), await bytes(2)]).toEqual([
        [[...root(1, 0).hash], [...root(1, 1).hash]],
        [[...root(2, 0).hash]],
      ]);
    });

    it('is read in pages, each bounded', async () => {
      await opened.store.append(someRows(4));
      for (const size of [0, 1, 2, 3, 4]) await opened.store.publish(aCheckpoint(size), []);
      const numbers = async (after: number, limit: number) =>
        (await opened.store.checkpoints(after, limit)).map(({ number }) => number);
      expect(await numbers(-1, 2)).toEqual([0, 1]);
      expect(await numbers(1, 10)).toEqual([2, 3, 4]);
      expect(await numbers(4, 10)).toEqual([]);
      expect(await numbers(-1, 0)).toEqual([]);
    });

    it('finds the last before a time, the first from it on, and the first that covers a row', async () => {
      const { store } = opened;
      await store.append(someRows(4));
      for (const [size, at] of [
        [0, 10],
        [2, 20],
        [2, 20],
        [4, 30],
      ] as const)
        await store.publish(aCheckpoint(size, { at: minute(at) }), []);
      const upTo = async (at: number) => (await store.checkpointBefore(minute(at)))?.number;
      const from = async (at: number) => (await store.checkpointFrom(minute(at)))?.number;
      const over = async (seq: number) => (await store.checkpointOver(seq))?.number;
      expect([await upTo(9), await upTo(10), await upTo(25), await upTo(20)]).toEqual([undefined, 0, 2, 2]);
      expect([await from(9), await from(11), await from(20), await from(31)]).toEqual([0, 1, 1, undefined]);
      expect([await over(0), await over(1), await over(2), await over(4)]).toEqual([1, 1, 3, undefined]);
    });

    it('goes by the time of signing where the clock was set back', async () => {
      const { store } = opened;
      await store.append(someRows(3));
      for (const [size, at] of [
        [1, 20],
        [2, 10],
        [3, 30],
      ] as const)
        await store.publish(aCheckpoint(size, { at: minute(at) }), []);
      expect((await store.checkpointBefore(minute(25)))?.number).toBe(0);
      expect((await store.checkpointFrom(minute(5)))?.number).toBe(1);
      expect((await store.latestCheckpoint())?.number).toBe(2);
    });

    it('puts each line of a witness to a checkpoint once, behind those it has', async () => {
      const { store } = opened;
      await store.publish(aCheckpoint(0), []);
      await store.publish(aCheckpoint(0), []);
      await store.cosign(0, ['— w1 x']);
      await store.cosign(0, ['— w0 "y"', '— w1 x', '— w2 𝔘']);
      await opened.reopen();
      const lines = (await opened.store.checkpoints(-1, 10)).map(({ cosignatures }) => cosignatures);
      expect(lines).toEqual([['— w1 x', '— w0 "y"', '— w2 𝔘'], []]);
    });

    it('rejects lines for a checkpoint that there is not, and more lines than it keeps', async () => {
      const { store } = opened;
      await store.publish(aCheckpoint(0), []);
      const lines = Array.from({ length: COSIGNATURES_MAX }, (_, index) => `— w${index} x`);
      await expect(store.cosign(1, ['— w x'])).rejects.toMatchObject({ kind: 'rejected' });
      await store.cosign(0, lines);
      await expect(store.cosign(0, ['— one too many'])).rejects.toMatchObject({ kind: 'rejected' });
      expect((await store.latestCheckpoint())?.cosignatures).toEqual(lines);
    });
  });

  describe(`${name}: hashes of the tree`, () => {
    it('gives the leaves of the rows as level 0, in pages, as many as there are', async () => {
      const rows = Array.from({ length: 5 }, () => aRow('refused'));
      await opened.store.append(rows);
      const leaves = rows.map(({ leaf }) => [...leaf]);
      expect(await bytes(0, 0, 3)).toEqual(leaves.slice(0, 3));
      expect(await bytes(0, 3, 10)).toEqual(leaves.slice(3));
      expect(await bytes(0, 5)).toEqual([]);
      expect(await bytes(0, 0, -1)).toEqual([]);
    });

    it('gives the roots that checkpoints brought along as the levels above, over a restart', async () => {
      await opened.store.append(someRows(2));
      await opened.store.publish(aCheckpoint(1), [root(1, 0), root(1, 1), root(2, 0)]);
      await opened.store.publish(aCheckpoint(2), [root(1, 2)]);
      await opened.reopen();
      expect(await bytes(1)).toEqual([0, 1, 2].map((index) => [...root(1, index).hash]));
      expect(await bytes(1, 1, 1)).toEqual([[...root(1, 1).hash]]);
      expect(await bytes(2)).toEqual([[...root(2, 0).hash]]);
      expect(await bytes(3)).toEqual([]);
    });

    it('gives a bounded number, however many are asked for', async () => {
      await opened.store.append(someRows(READ_MAX + 1));
      expect(await bytes(0, 0, 1e9)).toHaveLength(READ_MAX);
    });
  });
}
