import { describe, expect, it } from 'vitest';
import { DRILLS_MAX } from '../../../origin/health/circuit.ts';
import { FAILURE, SUCCESS, World } from './world.ts';

const order = { by: 'a.person', why: 'a secret plan' };
const evidence = { region: 'us-east-1', source: 'response_header' } as const;

describe('an operator', () => {
  it('forces a circuit open until they release it, and no caller is told their name or words', () => {
    const world = new World();
    world.orders.force('fra', 'forced_open', order);
    world.clock.advance(86_400_000);
    expect(world.health).toEqual({
      usable: false,
      why: 'circuit forced open by an operator',
      retryAt: Number.POSITIVE_INFINITY,
    });
    expect(world.orders.list(['fra', 'dub']).get('fra')?.circuit).toMatchObject(order);
    world.release();
    expect(world.ticket().probe).toBe(true);
  });

  it('forces a circuit closed, and no failure opens it until the time they gave', () => {
    const world = new World();
    world.open();
    world.orders.force('fra', 'forced_closed', { ...order, until: world.clock.now() + 60_000 });
    world.attempts(FAILURE, FAILURE, FAILURE, FAILURE);
    expect(world.health.usable).toBe(true);
    world.clock.advance(60_000);
    world.open();
    expect(world.health.usable).toBe(false);
  });

  it('is not overruled by an attempt that began before the order', () => {
    const world = new World();
    world.halfOpen();
    const probe = world.ticket();
    world.orders.force('fra', 'forced_open', order);
    world.circuits.report(probe, SUCCESS);
    expect(world.kind).toBe('forced_open');
  });

  it('sees state, reason, since when and when next', () => {
    const world = new World();
    world.open();
    const since = world.clock.now();
    world.clock.advance(1_000);
    expect(world.orders.list(['dub', 'fra'])).toEqual(
      new Map([
        ['dub', expect.objectContaining({ health: { usable: true } })],
        [
          'fra',
          expect.objectContaining({
            circuit: expect.objectContaining({ kind: 'open', since, until: since + 30_000 }),
          }),
        ],
      ]),
    );
  });
});

describe('an order with an end', () => {
  it.each(['forced_open', 'forced_closed'] as const)(
    'that is %s lasts no longer than it was given for, where the clock is set back by a day',
    (to) => {
      const world = new World();
      world.orders.force('fra', to, { ...order, until: world.clock.now() + 60_000 });
      world.clock.advance(30_000);
      world.clock.stepWall(-86_400_000);
      expect(world.kind).toBe(to);
      expect(world.orders.of('fra').circuit).toMatchObject({ until: world.clock.now() + 60_000 });
      world.clock.advance(60_000);
      expect(world.kind).not.toBe(to);
    },
  );
});

describe('a quarantine', () => {
  it('outlasts the release of what was known before its evidence came', () => {
    const world = new World();
    world.circuits.quarantine('fra', 'elsewhere', evidence);
    const seen = world.orders.of('fra').circuit;
    const { since } = seen;
    world.clock.advance(1_000);
    const fresh = { ...evidence, region: 'us-west-2' };
    world.circuits.quarantine('fra', 'elsewhere', fresh);
    expect(world.orders.release('fra', seen)).toEqual({ ok: false, error: 'quarantined' });
    expect(world.orders.of('fra').circuit).toMatchObject({ kind: 'quarantined', evidence: fresh, since });
    world.release();
    expect(world.kind).toBe('half_open');
  });

  it('outlasts the release of an order that it came after', () => {
    const world = new World();
    world.orders.force('fra', 'forced_open', order);
    const seen = world.orders.of('fra').circuit;
    world.circuits.quarantine('fra', 'elsewhere', evidence);
    world.orders.release('fra', seen);
    expect(world.kind).toBe('quarantined');
  });

  it('holds for every tenant until a person releases it, whatever time passes and whatever succeeds', () => {
    const world = new World();
    const running = world.ticket();
    world.circuits.quarantine('fra', 'it answered from us-east-1', evidence);
    world.circuits.report(running, SUCCESS);
    world.clock.advance(365 * 86_400_000);
    for (const tenant of [undefined, 'acme']) {
      expect(world.circuits.snapshot(tenant).of('fra')).toEqual({
        usable: false,
        why: 'quarantined until a person releases it: it answered from us-east-1',
        retryAt: Number.POSITIVE_INFINITY,
      });
      expect(world.circuits.begin('fra', tenant).ok).toBe(false);
    }
    world.release();
    world.attempts(SUCCESS);
    expect(world.kind).toBe('closed');
  });

  it('is not lifted by forcing the circuit closed', () => {
    const world = new World();
    world.circuits.quarantine('fra', 'elsewhere', evidence);
    expect(world.orders.force('fra', 'forced_closed', order)).toEqual({ ok: false, error: 'quarantined' });
    expect(world.circuits.begin('fra').ok).toBe(false);
  });

  it('follows from evidence at any time, also where an operator forced the circuit closed', () => {
    const world = new World();
    world.orders.force('fra', 'forced_closed', order);
    world.circuits.quarantine('fra', 'elsewhere', evidence);
    expect(world.kind).toBe('quarantined');
  });
});

describe('a game day', () => {
  const drill = (world: World, tenant: string) =>
    world.orders.drill('fra', { tenant, ...order, until: world.clock.now() + 60_000 });

  it('opens a circuit for its tenant alone, and ends by itself', () => {
    const world = new World();
    drill(world, 'acme');
    expect(world.circuits.begin('fra', 'acme')).toMatchObject({
      ok: false,
      error: { retryAt: world.clock.now() + 60_000 },
    });
    expect(world.circuits.begin('fra', 'other').ok).toBe(true);
    expect(world.health.usable).toBe(true);
    world.clock.advance(60_000);
    expect(world.circuits.begin('fra', 'acme').ok).toBe(true);
  });

  it('lasts no longer than it was given for, where the clock is set back by a day', () => {
    const world = new World();
    drill(world, 'acme');
    world.clock.stepWall(-86_400_000);
    expect(world.circuits.begin('fra', 'acme').ok).toBe(false);
    world.clock.advance(60_000);
    expect(world.circuits.begin('fra', 'acme').ok).toBe(true);
    expect(world.standings.of('fra').drills).toEqual([]);
  });

  it('is ended early without touching that of another tenant', () => {
    const world = new World();
    drill(world, 'acme');
    drill(world, 'other');
    world.orders.endDrill('fra', 'acme');
    expect(world.circuits.snapshot('acme').of('fra').usable).toBe(true);
    expect(world.circuits.snapshot('other').of('fra').usable).toBe(false);
  });

  it('takes no probe slot from the other tenants', () => {
    const world = new World();
    drill(world, 'acme');
    world.halfOpen();
    drill(world, 'acme');
    expect(world.circuits.begin('fra', 'acme').ok).toBe(false);
    expect(world.circuits.begin('fra', 'other')).toMatchObject({ value: { probe: true } });
  });

  it('is refused beyond the bound, and possible again once others have ended', () => {
    const world = new World();
    for (let index = 0; index < DRILLS_MAX; index += 1) expect(drill(world, `t-${index}`).ok).toBe(true);
    expect(drill(world, 'one-more')).toEqual({ ok: false, error: 'too_many' });
    expect(drill(world, 't-0').ok).toBe(true);
    world.clock.advance(60_000);
    expect(drill(world, 'one-more').ok).toBe(true);
  });
});
