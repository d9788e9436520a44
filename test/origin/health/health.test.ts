import { beforeEach, describe, expect, it } from 'vitest';
import { type Health, startHealth } from '../../../origin/health/health.ts';
import type { CircuitShelf } from '../../../origin/health/keeper.ts';
import { GATHER_MS, INSIST, RETRY_MS } from '../../../origin/health/keeper.ts';
import type { Change } from '../../../origin/health/standings.ts';
import type { Unreleased } from '../../../origin/health/unreleased.ts';
import type { CircuitRow } from '../../../origin/store/store.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { memoryTables } from '../../support/memory-tables.ts';
import { policyOf } from './policies.ts';
import { ProbeDouble } from './probe-double.ts';
import { FAILURE, SUCCESS } from './world.ts';

const order = { by: 'a.person', why: 'maintenance' };
const unprobed = (open_circuit_after: number) =>
  policyOf({ chat: { endpoints: ['fra', 'dub'], health: { probe: 'none', open_circuit_after } } });

describe('the health of a zone', () => {
  let clock: ManualClock;
  let rows: Map<string, CircuitRow>;
  let store: FaultyStore;
  let faults: unknown[];
  let call: ProbeDouble;
  let unreleased: readonly Unreleased[];

  beforeEach(() => {
    clock = new ManualClock();
    const tables = memoryTables();
    rows = tables.circuits;
    store = new FaultyStore(new MemoryStore(tables));
    faults = [];
    unreleased = [];
    call = new ProbeDouble();
  });

  const start = (
    shelf: CircuitShelf = store,
    policies = [unprobed(2)],
    probed: () => void = () => undefined,
    changed: (change: Change) => void = () => undefined,
  ): Promise<Health> =>
    startHealth(policies, {
      clock,
      shelf,
      call,
      unreleased,
      mayServe: () => ({ api: 'openai', model: 'm', tokensMember: 'max_tokens' }),
      random: () => 0.5,
      events: { changed, probed, notKept: (error) => faults.push(error) },
    });

  function fail({ circuits }: Health, endpoint: string, times: number): void {
    for (let turn = 0; turn < times; turn += 1) {
      const begun = circuits.begin(endpoint);
      if (begun.ok) circuits.report(begun.value, FAILURE);
    }
  }

  it('knows after a restart what it knew before: open, forced, on a game day, in quarantine', async () => {
    const before = await start();
    fail(before, 'open', 2);
    before.orders.force('forced', 'forced_open', order);
    before.orders.drill('drilled', { tenant: 'acme', ...order, until: clock.now() + 60_000 });
    before.circuits.quarantine('abroad', 'elsewhere', { region: 'us-east-1', source: 'response_header' });
    await before.close();

    const after = await start();
    const [ours, acmes] = [after.circuits.snapshot(), after.circuits.snapshot('acme')];
    for (const endpoint of ['open', 'forced', 'abroad']) {
      expect(ours.of(endpoint)).toEqual(before.circuits.snapshot().of(endpoint));
      expect(ours.of(endpoint).usable).toBe(false);
    }
    expect(ours.of('drilled').usable).toBe(true);
    expect(acmes.of('drilled').usable).toBe(false);
    await after.close();
  });

  it('has the slot of a probe back that died with the process', async () => {
    const before = await start();
    fail(before, 'fra', 2);
    clock.advance(30_000);
    expect(before.circuits.begin('fra')).toMatchObject({ value: { probe: true } });
    await before.kept();

    const after = await start();
    expect(after.circuits.begin('fra')).toMatchObject({ ok: true, value: { probe: true } });
  });

  it('has a quarantine on the shelf by the time that kept() resolves', async () => {
    const health = await start();
    health.circuits.quarantine('fra', 'elsewhere');
    await health.kept();
    expect(JSON.parse(rows.get('fra')?.state ?? '')).toMatchObject({ circuit: { kind: 'quarantined' } });
  });

  it('takes what it cannot read for a quarantine, as it could have been one', async () => {
    for (const [index, state] of ['', 'null', '{"circuit":{"kind":"new"},"drills":[]}', '[]'].entries()) {
      rows.set(`e-${index}`, { endpoint: `e-${index}`, state, at: '' });
    }
    const { orders } = await start();
    const kinds = [...orders.list(rows.keys()).values()].map(({ circuit }) => circuit.kind);
    expect(kinds).toEqual(Array(4).fill('quarantined'));
  });

  it('reads a shelf of many pages to its end', async () => {
    const state = JSON.stringify({
      circuit: { kind: 'quarantined', generation: 1, since: 0, why: 'elsewhere' },
      drills: [],
    });
    const names = Array.from({ length: 1_501 }, (_, index) => `e-${index}`);
    for (const endpoint of names) rows.set(endpoint, { endpoint, state, at: '' });
    const snapshot = (await start()).circuits.snapshot();
    expect(names.filter((name) => snapshot.of(name).usable)).toEqual([]);
  });

  it('gathers what changes within a moment into one write', async () => {
    const written: number[] = [];
    const counting: CircuitShelf = {
      circuits: (after, limit) => store.circuits(after, limit),
      saveCircuits: async (kept) => {
        written.push(kept.length);
        await store.saveCircuits(kept);
      },
    };
    const health = await start(counting);
    fail(health, 'fra', 2);
    fail(health, 'dub', 1);
    clock.advance(GATHER_MS);
    await settled();
    expect(written).toEqual([2]);
    await health.close();
    expect(written).toEqual([2]);
  });

  it('does not say kept while the write that carries the change is still under way', async () => {
    const gate = Promise.withResolvers<void>();
    const slow: CircuitShelf = {
      circuits: (after, limit) => store.circuits(after, limit),
      saveCircuits: async (kept) => {
        await gate.promise;
        await store.saveCircuits(kept);
      },
    };
    const health = await start(slow);
    health.circuits.quarantine('fra', 'elsewhere');
    clock.advance(GATHER_MS);
    await settled();
    let said = false;
    const kept = health.kept().then(() => {
      said = true;
    });
    await settled();
    expect(said).toBe(false);
    gate.resolve();
    await kept;
    expect(rows.has('fra')).toBe(true);
  });

  it('says when it cannot be kept, goes on, and keeps it once it can', async () => {
    const health = await start();
    store.failSaves(1);
    health.orders.force('fra', 'forced_open', order);
    await expect(health.kept()).rejects.toMatchObject({ kind: 'full' });
    expect(faults).toHaveLength(1);
    expect(health.circuits.snapshot().of('fra').usable).toBe(false);
    clock.advance(RETRY_MS);
    await settled();
    expect(rows.has('fra')).toBe(true);
    await health.close();
    expect(clock.waiting).toBe(0);
  });

  it('tries again and again to keep a quarantine before it says that it cannot', async () => {
    const health = await start();
    store.failSaves(2);
    health.circuits.quarantine('fra', 'elsewhere');
    const kept = health.kept();
    for (let turn = 0; turn < 2; turn += 1) {
      await settled();
      expect(rows.has('fra')).toBe(false);
      clock.advance(INSIST.everyMs);
    }
    await kept;
    expect(rows.has('fra')).toBe(true);

    store.failSaves(1_000);
    health.circuits.quarantine('dub', 'elsewhere');
    const refused = expect(health.kept()).rejects.toMatchObject({ kind: 'full' });
    for (let turn = 0; turn < INSIST.times; turn += 1) {
      await settled();
      clock.advance(INSIST.everyMs);
    }
    await refused;
  });

  it('tells of evidence that a probe gave once the quarantine has been kept, and not before', async () => {
    const told: boolean[] = [];
    call.evidence = { region: 'us-east-1', source: 'response_header' };
    const gate = Promise.withResolvers<void>();
    const slow: CircuitShelf = {
      circuits: (after, limit) => store.circuits(after, limit),
      saveCircuits: async (kept) => {
        await gate.promise;
        await store.saveCircuits(kept);
      },
    };
    const health = await start(slow, [policyOf({ chat: { endpoints: ['fra'] } })], () =>
      told.push(rows.has('fra')),
    );
    clock.advance(10_000);
    await settled();
    expect(health.circuits.snapshot().of('fra').usable).toBe(false);
    expect(told).toEqual([]);
    gate.resolve();
    await health.close();
    expect(told).toEqual([true]);
  });

  describe('that the log has evidence against an endpoint', () => {
    const evidence = { region: 'us-east-1', source: 'response_header' } as const;
    const AT = Date.UTC(2026, 0, 1);
    const kindOf = async (endpoint: string) => {
      const health = await start();
      const { circuit } = health.orders.of(endpoint);
      await health.close();
      return circuit.kind;
    };

    beforeEach(() => {
      unreleased = [{ endpoint: 'fra', at: AT, evidence }];
    });

    it('keeps it out though its circuit was never kept, says so, and is kept from then on', async () => {
      const said: string[] = [];
      const health = await start(store, undefined, undefined, ({ endpoint, after }) =>
        said.push(`${endpoint} ${after.circuit.kind}`),
      );
      expect(health.orders.of('fra').circuit).toMatchObject({ kind: 'quarantined', evidence });
      expect(health.circuits.begin('fra').ok).toBe(false);
      expect(health.circuits.begin('dub').ok).toBe(true);
      expect(said).toEqual(['fra quarantined']);
      await health.close();
      unreleased = [];
      expect(await kindOf('fra')).toBe('quarantined');
    });

    it('counts against a state that is newer and does not know of it', async () => {
      clock.advance(60_000);
      unreleased = [];
      const before = await start();
      fail(before, 'fra', 1);
      await before.close();
      unreleased = [{ endpoint: 'fra', at: AT, evidence }];
      expect(await kindOf('fra')).toBe('quarantined');
    });

    it('does not outlast a release after it that was kept, whatever became of its record', async () => {
      const before = await start();
      clock.advance(60_000);
      before.orders.release('fra', before.orders.of('fra').circuit);
      const probe = before.circuits.begin('fra');
      if (probe.ok) before.circuits.report(probe.value, SUCCESS);
      await before.close();
      expect(await kindOf('fra')).toBe('closed');
      unreleased = [{ endpoint: 'fra', at: clock.now(), evidence }];
      expect(await kindOf('fra')).toBe('quarantined');
    });

    it('changes nothing about one that is in quarantine already', async () => {
      unreleased = [];
      const before = await start();
      before.circuits.quarantine('fra', 'elsewhere');
      await before.close();
      unreleased = [{ endpoint: 'fra', at: AT, evidence }];
      const after = await start();
      expect(after.orders.of('fra').circuit).toEqual(before.orders.of('fra').circuit);
    });
  });

  it('does not start where the circuits of the last process cannot be read', async () => {
    await store.close();
    await expect(start()).rejects.toMatchObject({ kind: 'closed' });
  });

  it('follows new policies at once, and forgets nothing', async () => {
    const health = await start(store, [unprobed(5)]);
    fail(health, 'fra', 2);
    health.follow([unprobed(3)]);
    fail(health, 'fra', 1);
    expect(health.circuits.snapshot().of('fra').usable).toBe(false);
    await health.close();
  });

  it('recovers by its own probes over a restart, without one call of a tenant', async () => {
    const probed = [policyOf({ chat: { endpoints: ['fra'], health: { open_circuit_after: 2 } } })];
    const before = await start(store, probed);
    fail(before, 'fra', 2);
    await before.close();
    const after = await start(store, probed);
    for (let passed = 0; passed < 41_000; passed += 1_000) {
      clock.advance(1_000);
      await settled();
    }
    expect(call.sent).not.toEqual([]);
    const begun = after.circuits.begin('fra');
    expect(begun).toMatchObject({ ok: true, value: { probe: false } });
    if (begun.ok) after.circuits.report(begun.value, SUCCESS);
    await after.close();
  });
});
