import { describe, expect, it } from 'vitest';
import { slotMs } from '../../../origin/health/circuit-time.ts';
import { busy, FAILURE, NEUTRAL, SETTINGS, SLOW, SUCCESS, World } from './world.ts';

describe('a closed circuit', () => {
  it('opens after the configured failures in a row, and says why and until when', () => {
    const world = new World();
    world.attempts(FAILURE, FAILURE);
    expect(world.kind).toBe('closed');
    world.attempts(FAILURE);
    expect(world.health).toEqual({
      usable: false,
      why: 'circuit open after 3 failures in a row: answered 503',
      retryAt: world.clock.now() + 30_000,
    });
  });

  it('counts failures in a row only: a success in between starts the count again', () => {
    const world = new World();
    world.attempts(FAILURE, FAILURE, SUCCESS, FAILURE, FAILURE);
    expect(world.kind).toBe('closed');
  });

  it('opens at once when the first token takes longer than max_ttft_ms', () => {
    const world = new World();
    world.attempts(SLOW);
    expect(world.health).toMatchObject({
      why: 'circuit open: first token after 4001 ms, above max_ttft_ms (4000 ms)',
    });
  });

  it('takes a wrong credential for a failure', () => {
    const world = new World();
    const credential = { kind: 'credential', why: 'answered 401' } as const;
    world.attempts(credential, FAILURE, credential);
    expect(world.kind).toBe('open');
  });

  it('lets neither a busy answer nor the fault of a caller reset the count, or add to it', () => {
    const world = new World();
    world.attempts(FAILURE, FAILURE, NEUTRAL, busy(1_000));
    expect(world.kind).toBe('closed');
    world.clock.advance(1_000);
    world.attempts(FAILURE);
    expect(world.kind).toBe('open');
  });

  it('keeps its endpoint out of use until its cool-down ends, which a shorter one does not cut', () => {
    const world = new World();
    const [first, second] = [world.ticket(), world.ticket()];
    world.circuits.report(first, busy(20_000));
    world.circuits.report(second, busy(2_000));
    expect(world.health).toMatchObject({ usable: false, retryAt: world.clock.now() + 20_000 });
    world.clock.advance(19_999);
    expect(world.circuits.begin('fra').ok).toBe(false);
    world.clock.advance(1);
    expect(world.health).toEqual({ usable: true });
    expect(world.kind).toBe('closed');
  });

  it('bounds a cool-down that asks for a day', () => {
    const world = new World();
    world.attempts(busy(86_400_000));
    world.clock.advance(60_000);
    expect(world.health.usable).toBe(true);
  });

  it('is opened by attempts under way once, however many of them fail after it', () => {
    const world = new World();
    const tickets = Array.from({ length: 100 }, () => world.ticket());
    for (const ticket of tickets.slice(0, 3)) world.circuits.report(ticket, FAILURE);
    const opened = world.standings.of('fra');
    world.clock.advance(10_000);
    for (const ticket of tickets.slice(3)) world.circuits.report(ticket, FAILURE);
    expect(world.standings.of('fra')).toBe(opened);
  });
});

describe('an open circuit whose time is up', () => {
  it('lets exactly one of 100 waiting calls through, and the others know when to ask again', () => {
    const world = new World();
    world.halfOpen();
    const sawUsable = world.circuits.snapshot();
    expect(sawUsable.of('fra').usable).toBe(true);
    const begun = Array.from({ length: 100 }, () => world.circuits.begin('fra'));
    expect(begun.filter(({ ok }) => ok)).toHaveLength(1);
    expect(begun[0]).toMatchObject({ ok: true, value: { probe: true } });
    expect(begun[99]).toEqual({
      ok: false,
      error: {
        usable: false,
        why: 'circuit half open: its one probe is under way',
        retryAt: world.clock.now() + SETTINGS.maxTtftMs,
      },
    });
  });

  it('closes when the probe succeeds, and lets everybody through', () => {
    const world = new World();
    world.halfOpen();
    world.attempts(SUCCESS);
    expect(world.kind).toBe('closed');
    expect(Array.from({ length: 100 }, () => world.circuits.begin('fra').ok)).not.toContain(false);
  });

  it.each([
    ['fails', FAILURE],
    ['is slow', SLOW],
  ])('rests again, for the whole time, when the probe %s', (_, outcome) => {
    const world = new World();
    world.halfOpen();
    world.attempts(outcome);
    expect(world.health).toMatchObject({ usable: false, retryAt: world.clock.now() + 30_000 });
    world.clock.advance(29_999);
    expect(world.circuits.begin('fra').ok).toBe(false);
  });

  it('has its slot back when the caller behind the probe hangs up', () => {
    const world = new World();
    world.halfOpen();
    world.attempts(NEUTRAL);
    expect(world.ticket().probe).toBe(true);
  });

  it('has its slot back after the cool-down when the probe finds it busy', () => {
    const world = new World();
    world.halfOpen();
    world.attempts(busy(5_000));
    expect(world.circuits.begin('fra').ok).toBe(false);
    world.clock.advance(5_000);
    expect(world.ticket().probe).toBe(true);
  });

  it('has its slot back from a probe that never ends, whose late result then changes nothing', () => {
    const world = new World();
    world.halfOpen();
    const lost = world.ticket();
    world.clock.advance(slotMs(SETTINGS) - 1);
    expect(world.circuits.begin('fra').ok).toBe(false);
    world.clock.advance(1);
    const next = world.ticket();
    world.circuits.report(lost, SUCCESS);
    expect(world.kind).toBe('half_open');
    world.circuits.report(next, FAILURE);
    expect(world.kind).toBe('open');
  });

  it('is not closed by the late success of a call from before it opened', () => {
    const world = new World();
    const early = world.ticket();
    world.halfOpen();
    const probe = world.ticket();
    world.circuits.report(early, SUCCESS);
    expect(world.kind).toBe('half_open');
    world.circuits.report(probe, SUCCESS);
    expect(world.kind).toBe('closed');
  });

  it('counts a ticket once, however often it is reported', () => {
    const world = new World();
    const ticket = world.ticket();
    for (let turn = 0; turn < 5; turn += 1) world.circuits.report(ticket, FAILURE);
    expect(world.kind).toBe('closed');
  });
});

describe('a clock that is set back by an hour', () => {
  it('keeps no circuit open, no endpoint cooling and no slot taken for that hour', () => {
    const world = new World();
    world.open();
    world.clock.stepWall(-3_600_000);
    expect(world.health).toMatchObject({ retryAt: world.clock.now() + 30_000 });
    world.clock.advance(30_000);
    const lost = world.ticket();
    world.clock.stepWall(-3_600_000);
    expect(world.health.usable).toBe(false);
    world.clock.advance(slotMs(SETTINGS));
    world.attempts(busy(30_000));
    world.clock.stepWall(-3_600_000);
    expect(world.health.usable).toBe(false);
    world.clock.advance(60_000);
    expect(world.health.usable).toBe(true);
    expect(lost.probe).toBe(true);
  });
});

describe('a snapshot', () => {
  it('stays as it was while the circuits go on', () => {
    const world = new World();
    const before = world.circuits.snapshot();
    world.open();
    expect(before.of('fra')).toEqual({ usable: true });
    const open = world.circuits.snapshot();
    world.clock.advance(30_000);
    expect(open.of('fra').usable).toBe(false);
    expect(world.health.usable).toBe(true);
  });

  it('answers for an endpoint that nobody ever called', () => {
    expect(new World().circuits.snapshot().of('unheard-of')).toEqual({ usable: true });
  });
});

describe('leave that was given before a wait', () => {
  it('holds while the state does, also for the one probe of a half-open circuit', () => {
    const world = new World();
    const early = world.ticket();
    expect(world.circuits.stillHolds(early).ok).toBe(true);
    world.attempts(FAILURE);
    expect(world.circuits.stillHolds(early).ok).toBe(true);
    world.attempts(FAILURE, FAILURE);
    expect(world.circuits.stillHolds(early)).toMatchObject({ ok: false, error: { usable: false } });
    world.clock.advance(SETTINGS.halfOpenAfterMs);
    expect(world.circuits.stillHolds(world.ticket()).ok).toBe(true);
  });

  it('does not hold where the endpoint has been quarantined meanwhile', () => {
    const world = new World();
    const ticket = world.ticket();
    world.circuits.quarantine('fra', 'elsewhere');
    expect(world.circuits.stillHolds(ticket)).toMatchObject({
      error: { why: expect.stringContaining('quarantined') },
    });
  });
});
