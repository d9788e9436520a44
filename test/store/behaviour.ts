import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  type CircuitRow,
  READ_MAX,
  type SequencedRow,
  type Store,
  type StoredRow,
} from '../../origin/store/store.ts';
import { END_KINDS, RECORD_KINDS } from '../../shared/record.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import { policyBehaviour } from './behaviour-policies.ts';
import { aHold, holdBehaviour, pruneBehaviour } from './behaviour-retention.ts';
import { aCheckpoint, treeBehaviour } from './behaviour-tree.ts';

/** One database, which can be opened, closed and opened again. */
export interface Database {
  open(): Promise<Store>;
  destroy(): Promise<void>;
}

/** The store under test, which can be closed and opened again. */
export interface Opened {
  readonly store: Store;
  reopen(): Promise<void>;
}

const circuit = (endpoint: string, state = '{}'): CircuitRow => ({
  endpoint,
  state,
  at: '2026-01-01T00:00:00.000Z',
});

const ids = (rows: readonly (StoredRow | SequencedRow)[]): string[] => rows.map(({ id }) => id);

/** What every store must do, whatever it is made of. */
export function storeBehaviour(name: string, make: () => Promise<Database>): void {
  let database: Database;
  let store: Store;

  beforeEach(async () => {
    database = await make();
    store = await database.open();
  });

  afterEach(async () => {
    await store.close();
    await database.destroy();
  });

  describe(`${name}: appending`, () => {
    it('gives each row the next place, from 0, in the order given', async () => {
      const rows = someRows(7);
      await store.append(rows.slice(0, 3));
      await store.append(rows.slice(3));
      const log = await store.after(-1, 10);
      expect(await store.size()).toBe(7);
      expect(log.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5, 6]);
      expect(ids(log)).toEqual(ids(rows));
    });

    it('keeps every member of a row as it was given', async () => {
      const full = aRow('served', { pending_id: 'p-1', workload: `O'Brien "ünï" 𝔘 \u0000 \\` });
      const bare = { ...aRow('control'), requestId: undefined, tenant: undefined };
      await store.append([full, bare]);
      const log = await store.after(-1, 10);
      const given = [full, bare].map((row, seq) => ({ ...row, seq, leaf: [...row.leaf] }));
      expect(log.map((row) => ({ ...row, leaf: [...row.leaf] }))).toEqual(given);
      expect(await store.byId(bare.id)).toEqual(log[1]);
    });

    it('takes groups that come at once in the order of the calls, and none in pieces', async () => {
      const groups = Array.from({ length: 20 }, (_, index) => someRows(1 + (index % 5)));
      await Promise.all(groups.map((group) => store.append(group)));
      expect(ids(await store.after(-1, 100))).toEqual(ids(groups.flat()));
    });

    it('keeps nothing of a group in which one row is rejected, and goes on', async () => {
      const [old, twin, ...others] = [aRow('refused'), aRow('refused'), ...someRows(3)];
      await store.append([old]);
      await expect(store.append([...others, old])).rejects.toMatchObject({ kind: 'rejected' });
      await expect(store.append([twin, twin])).rejects.toMatchObject({ kind: 'rejected' });
      await store.append(others);
      expect((await store.after(-1, 10)).map(({ seq, id }) => [seq, id])).toEqual([
        [0, old.id],
        ...others.map(({ id }, index) => [index + 1, id]),
      ]);
    });

    it('has it all after it was closed and opened again, and goes on from there', async () => {
      const rows = someRows(4);
      await store.append(rows.slice(0, 3));
      await store.close();
      store = await database.open();
      await store.append(rows.slice(3));
      const log = await store.after(-1, 10);
      expect(ids(log)).toEqual(ids(rows));
      expect(log.at(-1)?.seq).toBe(3);
    });

    it('says it is ready when it can write, without adding to the log', async () => {
      await store.ready();
      expect(await store.latest(10)).toEqual([]);
      expect(await store.size()).toBe(0);
    });

    it('takes nothing and tells nothing once it is closed', async () => {
      await store.append(someRows(1));
      await store.close();
      const calls = [
        () => store.append(someRows(1)),
        () => store.ready(),
        () => store.openPendings(1),
        () => store.ofRequest('req-1', 'acme', 1),
        () => store.after(-1, 1),
        () => store.latest(1),
        () => store.byId('x'),
        () => store.lastMismatches(-1, 1),
        () => store.controlsOf('fra', -1, 1),
        () => store.circuits('', 1),
        () => store.saveCircuits([circuit('fra')]),
        () => store.size(),
        () => store.hashes(0, 0, 1),
        () => store.latestCheckpoint(),
        () => store.checkpoints(-1, 1),
        () => store.checkpointBefore('2026'),
        () => store.checkpointFrom('2026'),
        () => store.checkpointOver(0),
        () => store.publish(aCheckpoint(0), []),
        () => store.cosign(0, []),
        () => store.keepPolicies([]),
        () => store.policyOf('x'),
        () => store.policies('', 1),
        () => store.prune(aRow('control'), []),
        () => store.saveHold(aRow('control'), aHold('h')),
        () => store.holds(),
      ];
      for (const call of calls) await expect(call()).rejects.toMatchObject({ kind: 'closed' });
      await store.close();
    });
  });

  describe(`${name}: reading`, () => {
    it.each(RECORD_KINDS)(
      'counts a pending with a %s as open exactly while that kind is not an end',
      async (kind) => {
        const pending = aRow('pending');
        await store.append([pending]);
        if (kind !== 'pending') await store.append([aRow(kind, { pending_id: pending.id })]);
        const ends = END_KINDS.some((end) => end === kind);
        expect(ids(await store.openPendings(10))).toEqual(ends ? [] : [pending.id]);
      },
    );

    it('gives the oldest open pendings, as many as asked for', async () => {
      const pendings = Array.from({ length: 5 }, () => aRow('pending'));
      await store.append(pendings);
      await store.append([aRow('failed', { pending_id: pendings[1]?.id }), aRow('completed')]);
      const open = await store.openPendings(3);
      expect(open.map(({ seq }) => seq)).toEqual([0, 2, 3]);
      expect(await store.openPendings(0)).toEqual([]);
    });

    it('ends the one pending that is named, though both have the same request id', async () => {
      const [first, second] = [aRow('pending'), aRow('pending')];
      await store.append([first, second, aRow('completed', { pending_id: second.id })]);
      expect(ids(await store.openPendings(10))).toEqual([first.id]);
    });

    it('never shows a tenant the rows of another that used the same request id', async () => {
      const mine = [aRow('pending'), aRow('served')];
      await store.append([
        aRow('pending', { tenant: 'other' }),
        ...mine,
        aRow('refused', { tenant: undefined }),
      ]);
      expect(ids(await store.ofRequest('req-1', 'acme', 10))).toEqual(ids(mine));
      expect(await store.ofRequest('req-2', 'acme', 10)).toEqual([]);
    });

    it('gives the newest rows of a request id that was used too often', async () => {
      const rows = someRows(6);
      await store.append(rows);
      expect(ids(await store.ofRequest('req-1', 'acme', 2))).toEqual(ids(rows.slice(4)));
    });

    it('is read to the end in pages, and from the end', async () => {
      const rows = someRows(5);
      await store.append(rows);
      expect(ids(await store.after(-1, 2))).toEqual(ids(rows.slice(0, 2)));
      expect(ids(await store.after(1, 2))).toEqual(ids(rows.slice(2, 4)));
      expect(ids(await store.after(3, 2))).toEqual(ids(rows.slice(4)));
      expect(await store.after(4, 2)).toEqual([]);
      expect(ids(await store.latest(2))).toEqual(ids(rows.slice(3)));
      expect(await store.byId('unknown')).toBeUndefined();
    });

    it('gives of each endpoint the newest row of evidence that it ran elsewhere, and nothing else', async () => {
      const violation = (endpoint: string, region_verdict: 'mismatch' | 'unverified') =>
        aRow('violation', { endpoint, region_verdict });
      const [fra, dub] = [violation('fra', 'mismatch'), violation('dub', 'mismatch')];
      await store.append([violation('fra', 'mismatch'), violation('par', 'unverified'), dub]);
      await store.append([fra, violation('dub', 'unverified'), aRow('served', { endpoint: 'fra' })]);
      const found = await store.lastMismatches(-1, 10);
      expect(ids(found)).toEqual([dub.id, fra.id]);
      expect(found.map(({ seq }) => seq)).toEqual([2, 3]);
      expect(ids(await store.lastMismatches(-1, 1))).toEqual([dub.id]);
      expect(ids(await store.lastMismatches(2, 10))).toEqual([fra.id]);
      expect(await store.lastMismatches(3, 10)).toEqual([]);
    });

    it('gives what was ordered over an endpoint after a place in the log, in pages', async () => {
      const orders = Array.from({ length: 3 }, () => aRow('control', { endpoint: 'fra' }));
      await store.append([aRow('control', { endpoint: 'fra' }), aRow('control'), ...orders]);
      await store.append([aRow('control', { endpoint: 'dub' }), aRow('violation', { endpoint: 'fra' })]);
      expect(ids(await store.controlsOf('fra', 0, 10))).toEqual(ids(orders));
      expect(ids(await store.controlsOf('fra', 0, 2))).toEqual(ids(orders.slice(0, 2)));
      expect(ids(await store.controlsOf('fra', 3, 2))).toEqual(ids(orders.slice(2)));
      expect(await store.controlsOf('par', -1, 10)).toEqual([]);
    });

    it('gives a bounded number of rows, however many are asked for', async () => {
      await store.append(someRows(READ_MAX + 1));
      expect(await store.after(-1, 1e9)).toHaveLength(READ_MAX);
      expect(await store.latest(1e9)).toHaveLength(READ_MAX);
      expect(await store.after(-1, -1)).toEqual([]);
    });
  });
  describe(`${name}: circuits`, () => {
    it('keeps the last state of each endpoint over a restart, and leaves the log alone', async () => {
      const words = `O'Brien "ünï" 𝔘 \\`;
      await store.saveCircuits([circuit('fra', 'old'), circuit('dub', words)]);
      await store.saveCircuits([circuit('fra', 'older'), circuit('fra', 'new')]);
      await store.close();
      store = await database.open();
      expect(await store.circuits('', 10)).toEqual([circuit('dub', words), circuit('fra', 'new')]);
      expect(await store.latest(10)).toEqual([]);
    });

    it('is read to the end in pages, in the order of the ids, each page bounded', async () => {
      const names = Array.from({ length: READ_MAX + 1 }, (_, index) => `e-${String(index).padStart(4, '0')}`);
      await store.saveCircuits(names.toReversed().map((endpoint) => circuit(endpoint)));
      const page = await store.circuits('', 1e9);
      const rest = await store.circuits(page.at(-1)?.endpoint ?? '', 1e9);
      expect(page).toHaveLength(READ_MAX);
      expect([...page, ...rest].map(({ endpoint }) => endpoint)).toEqual(names);
      expect(await store.circuits(names.at(-1) ?? '', 10)).toEqual([]);
      expect(await store.circuits('', 0)).toEqual([]);
    });

    it('takes new states while groups are being appended', async () => {
      const rows = someRows(3);
      await Promise.all([
        store.append(rows),
        store.saveCircuits([circuit('fra')]),
        store.append(someRows(1)),
      ]);
      expect((await store.latest(10)).map(({ seq }) => seq)).toEqual([0, 1, 2, 3]);
      expect(await store.circuits('', 10)).toEqual([circuit('fra')]);
    });
  });

  const opened: Opened = {
    get store() {
      return store;
    },
    reopen: async () => {
      await store.close();
      store = await database.open();
    },
  };
  treeBehaviour(name, opened);
  policyBehaviour(name, opened);
  pruneBehaviour(name, opened);
  holdBehaviour(name, opened);
}
