import { describe, expect, it } from 'vitest';
import { type HoldRow, PRUNE_MAX } from '../../origin/store/retention-table.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import type { Opened } from './behaviour.ts';

export const aHold = (id: string, members: Partial<HoldRow> = {}): HoldRow => ({
  id,
  by: 'a.person',
  why: 'a court asked for it',
  at: '2026-01-02T00:00:00.000Z',
  ...members,
});

const NOON = '2026-01-01T12:00:00.000Z';
const LATER = '2026-01-01T12:00:00.001Z';
const EARLIER = '2026-01-01T11:59:59.999Z';
const release = { releasedAt: LATER, releasedBy: 'b.person' };

/** What every store must do when the bodies of records are dropped. */
export function pruneBehaviour(name: string, opened: Opened): void {
  const whole = async () =>
    (await opened.store.after(-1, 100))
      .filter(({ canonical }) => canonical !== undefined)
      .map(({ seq }) => seq);

  describe(`${name}: pruning`, () => {
    it('drops the body of a row and what it could be found by, and nothing else, over a restart', async () => {
      const rows = [aRow('pending'), aRow('served', { pending_id: 'p' }), aRow('refused'), aRow('refused')];
      const [{ id, kind, at, leaf }] = [rows[1] ?? aRow('refused')];
      await opened.store.append([...rows, aRow('completed', { pending_id: rows[0]?.id })]);
      await opened.store.prune(aRow('control'), [1, 3]);
      await opened.reopen();
      const log = await opened.store.after(-1, 10);
      expect(await whole()).toEqual([0, 2, 4, 5]);
      const gone = { canonical: undefined, requestId: undefined, pendingId: undefined, tenant: undefined };
      expect({ ...log[1], leaf: [...(log[1]?.leaf ?? [])] }).toEqual({
        ...{ seq: 1, id, kind, at, leaf: [...leaf] },
        ...gone,
      });
      expect(log.filter((row) => row.canonical !== undefined && row.tenant !== 'acme')).toEqual([]);
    });

    it('leaves the hashes of the tree as they are', async () => {
      await opened.store.append(someRows(3));
      const before = await opened.store.hashes(0, 0, 3);
      await opened.store.prune(aRow('control'), [0, 1]);
      expect((await opened.store.hashes(0, 0, 3)).map((leaf) => [...leaf])).toEqual(
        before.map((leaf) => [...leaf]),
      );
    });

    it('shows a pruned row by its place and id, and no longer to its tenant', async () => {
      const rows = someRows(2);
      await opened.store.append(rows);
      await opened.store.prune(aRow('control', { request_id: undefined }), [0]);
      expect((await opened.store.ofRequest('req-1', 'acme', 10)).map(({ seq }) => seq)).toEqual([1]);
      expect((await opened.store.byId(rows[0]?.id ?? ''))?.seq).toBe(0);
      expect((await opened.store.latest(3)).map(({ seq }) => seq)).toEqual([0, 1, 2]);
    });

    it('finds no evidence and no order in rows that are pruned', async () => {
      const violation = aRow('violation', { endpoint: 'fra', region_verdict: 'mismatch' });
      await opened.store.append([violation, aRow('control', { endpoint: 'fra' })]);
      await opened.store.prune(aRow('control'), [0, 1]);
      expect(await opened.store.lastMismatches(-1, 10)).toEqual([]);
      expect(await opened.store.controlsOf('fra', -1, 10)).toEqual([]);
    });

    it('gives the control record its place in the order of the calls, and the log goes on after it', async () => {
      const [control, hold, next] = [aRow('control'), aRow('control'), aRow('refused')];
      await Promise.all([
        opened.store.append(someRows(2)),
        opened.store.prune(control, [0]),
        opened.store.saveHold(hold, aHold('h')),
        opened.store.append([next]),
      ]);
      const log = await opened.store.after(1, 10);
      expect(log.map(({ seq, id }) => [seq, id])).toEqual([
        [2, control.id],
        [3, hold.id],
        [4, next.id],
      ]);
    });

    it('prunes in any order, around what is pruned already, and control records too', async () => {
      await opened.store.append(someRows(6));
      await opened.store.prune(aRow('control'), [2, 3]);
      await opened.store.prune(aRow('control'), [4, 1, 0, 6]);
      expect(await whole()).toEqual([5, 7]);
    });

    it('prunes a call that has its end, and opens none whose end it prunes', async () => {
      const pendings = [aRow('pending'), aRow('pending')];
      await opened.store.append(pendings);
      await opened.store.append(pendings.map(({ id }) => aRow('completed', { pending_id: id })));
      await opened.store.prune(aRow('control'), [0, 2, 3]);
      expect(await opened.store.openPendings(10)).toEqual([]);
    });

    it.each([
      ['a place that is not in the log', [0, 9]],
      ['the place of the record that tells of it', [6]],
      ['a place before the first', [-1]],
      ['a place between two', [0.5]],
      ['a place that is named twice', [0, 1, 0]],
      ['a place that is pruned already', [0, 4]],
      ['a call that has no end', [0, 1, 2]],
    ])('rejects %s, and keeps nothing of it', async (_, seqs) => {
      await opened.store.append([...someRows(2), aRow('pending'), ...someRows(2)]);
      await opened.store.prune(aRow('control'), [4]);
      await expect(opened.store.prune(aRow('control'), seqs)).rejects.toMatchObject({ kind: 'rejected' });
      expect(await whole()).toEqual([0, 1, 2, 3, 5]);
      await opened.store.prune(aRow('control'), [0, 1]);
      expect(await whole()).toEqual([2, 3, 5, 6]);
    });

    it('prunes so many places at once, and rejects one more', async () => {
      await opened.store.append(someRows(PRUNE_MAX + 1));
      const places = Array.from({ length: PRUNE_MAX + 1 }, (_, seq) => seq);
      const tooMany = opened.store.prune(aRow('control'), places);
      await expect(tooMany).rejects.toMatchObject({ kind: 'rejected' });
      expect(await whole()).toHaveLength(100);
      await opened.store.prune(aRow('control'), places.slice(1));
      expect(await whole()).toEqual([0]);
    });

    it('rejects what no control record tells of, or one that is there already', async () => {
      const control = aRow('control');
      await opened.store.append([...someRows(1), control]);
      await expect(opened.store.prune(aRow('refused'), [0])).rejects.toMatchObject({ kind: 'rejected' });
      await expect(opened.store.prune(control, [0])).rejects.toMatchObject({ kind: 'rejected' });
      expect(await whole()).toEqual([0, 1]);
    });
  });

  describe(`${name}: pruning under a hold`, () => {
    const rows = [aRow('refused', { at: NOON }), aRow('refused', { at: NOON, tenant: 'other' })];

    it.each([
      ['of everything', {}],
      ['of the tenant', { tenant: 'acme' }],
      ['of a period that begins with the record', { from: NOON }],
      ['of a period that ends with the record', { to: NOON }],
      ['of the tenant in a period', { tenant: 'acme', from: EARLIER, to: LATER }],
    ])('rejects a record under a hold %s, until it is released', async (_, members) => {
      const hold = aHold('h-1', members);
      await opened.store.append(rows);
      await opened.store.saveHold(aRow('control'), hold);
      const prune = () => opened.store.prune(aRow('control'), [0]);
      await expect(prune()).rejects.toMatchObject({ kind: 'rejected' });
      expect(await whole()).toEqual([0, 1, 2]);
      await opened.store.saveHold(aRow('control'), { ...hold, ...release });
      await prune();
      expect(await whole()).toEqual([1, 2, 3, 4]);
    });

    it.each([
      ['of another tenant', { tenant: 'third' }],
      ['of another tenant at that time', { tenant: 'third', from: EARLIER, to: LATER }],
      ['that begins later', { from: LATER }],
      ['that ended before', { to: EARLIER }],
      ['of the tenant at another time', { tenant: 'acme', from: LATER }],
    ])('prunes a record beside a hold %s', async (_, members) => {
      await opened.store.append(rows);
      await opened.store.saveHold(aRow('control'), aHold('h-1', members));
      await opened.store.prune(aRow('control'), [0, 1]);
      expect(await whole()).toEqual([2, 3]);
    });
  });
}

/** What every store must do with holds. */
export function holdBehaviour(name: string, opened: Opened): void {
  describe(`${name}: holds`, () => {
    it('keeps each hold as it was given, in the order of placing, also once it is released', async () => {
      const period = aHold('h-2', { from: EARLIER, to: LATER });
      const tenant = aHold('h-1', { tenant: 'acme', why: `O'Brien "ünï" 𝔘` });
      for (const hold of [period, tenant]) await opened.store.saveHold(aRow('control'), hold);
      await opened.store.saveHold(aRow('control'), { ...period, ...release });
      await opened.reopen();
      expect(await opened.store.holds()).toEqual([{ ...period, ...release }, tenant]);
      expect(await opened.store.size()).toBe(3);
    });

    it.each([
      ['placed again', {}],
      ['given to another tenant', { tenant: 'other', ...release }],
      ['freed of its period', { from: undefined, ...release }],
      ['dated back', { at: EARLIER, ...release }],
      ['released by nobody', { releasedAt: LATER }],
    ])('rejects a hold that would be %s, with its control record', async (_, members) => {
      const hold = aHold('h-1', { tenant: 'acme', from: EARLIER });
      await opened.store.saveHold(aRow('control'), hold);
      const { from = undefined, ...changed } = { ...hold, ...members };
      const save = opened.store.saveHold(aRow('control'), { ...changed, ...(from && { from }) });
      await expect(save).rejects.toMatchObject({ kind: 'rejected' });
      expect(await opened.store.holds()).toEqual([hold]);
      expect(await opened.store.size()).toBe(1);
    });

    it('rejects the release of a hold that is released, and a control record that is there already', async () => {
      const control = aRow('control');
      const released = { ...aHold('h-1'), ...release };
      await opened.store.saveHold(control, aHold('h-1'));
      await opened.store.saveHold(aRow('control'), released);
      const again = opened.store.saveHold(aRow('control'), { ...released, releasedBy: 'c.person' });
      await expect(again).rejects.toMatchObject({ kind: 'rejected' });
      await expect(opened.store.saveHold(control, aHold('h-2'))).rejects.toMatchObject({ kind: 'rejected' });
      expect(await opened.store.holds()).toEqual([released]);
    });
  });
}
