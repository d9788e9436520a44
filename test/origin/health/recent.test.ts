import { describe, expect, it } from 'vitest';
import type { Outcome } from '../../../origin/health/outcome.ts';
import { FIRST_TOKENS_MAX, RECENT_MS } from '../../../origin/health/recent.ts';
import { busy, FAILURE, NEUTRAL, SETTINGS, SLOW, SUCCESS, World } from './world.ts';

const CREDENTIAL: Outcome = { kind: 'credential', why: 'answered 401' };
const streamed = (ttftMs: number): Outcome => ({ kind: 'success', ttftMs });

/** Nothing opens a circuit here, so that every attempt is let through. */
const patient = (): World =>
  new World({ ...SETTINGS, openAfter: Number.POSITIVE_INFINITY, halfOpenAfterMs: 0 });

const of = ({ circuits }: World, endpoint = 'fra') => circuits.recent.of(endpoint);

describe('how an endpoint did of late', () => {
  it('is how many outcomes speak of it and how many of them were failures', () => {
    const world = patient();
    world.attempts(SUCCESS, FAILURE, NEUTRAL, CREDENTIAL, SUCCESS, SLOW);
    expect(of(world)).toMatchObject({ counted: 5, failed: 3 });
    expect(of(world, 'dub')).toEqual({ counted: 0, failed: 0, firstToken: undefined });
  });

  it('is neither better nor worse for being busy, or for what its callers did', () => {
    const world = patient();
    world.attempts(NEUTRAL, busy(1_000));
    expect(of(world)).toMatchObject({ counted: 0, failed: 0 });
  });

  it('says when it was last tried, however long ago: a 429 is a try, and what never left us is none', () => {
    const world = patient();
    expect(of(world).triedAt).toBeUndefined();
    world.attempts(busy(1_000));
    const triedAt = world.clock.now();
    world.clock.advance(2 * RECENT_MS);
    world.attempts(NEUTRAL);
    expect(of(world)).toMatchObject({ counted: 0, triedAt });
  });

  it('counts an attempt once, also one that began under an older state of the circuit', () => {
    const world = new World();
    const late = world.ticket();
    world.open();
    world.circuits.report(late, FAILURE);
    world.circuits.report(late, FAILURE);
    expect(of(world)).toMatchObject({ counted: 4, failed: 4 });
  });

  it('forgets what lies behind the window, and no more than that', () => {
    const world = patient();
    world.attempts(FAILURE, streamed(900));
    world.clock.advance(RECENT_MS / 2);
    world.attempts(SUCCESS);
    world.clock.advance(RECENT_MS / 2);
    expect(of(world)).toMatchObject({ counted: 1, failed: 0, firstToken: undefined });
  });

  it('does not keep for long what a clock that was set back left in the future', () => {
    const world = patient();
    world.attempts(FAILURE, streamed(900));
    world.clock.stepWall(-3_600_000);
    world.attempts(SUCCESS);
    expect(of(world)).toMatchObject({ counted: 1, failed: 0, firstToken: undefined });
  });

  it('has the median and the last time to a first token that was seen', () => {
    const world = patient();
    world.attempts(streamed(300), streamed(9_000), SLOW, streamed(200), SUCCESS);
    expect(of(world).firstToken).toEqual({ typicalMs: 300, lastMs: 200 });
  });

  it('takes no time for one that was reckoned from the plain answer of a probe', () => {
    const world = patient();
    world.attempts({ kind: 'slow', ttftMs: 5_000, maxTtftMs: 4_000, reckoned: true });
    expect(of(world)).toMatchObject({ counted: 1, failed: 1, firstToken: undefined });
  });

  it('remembers a bounded number of first tokens, the newest', () => {
    const world = patient();
    world.attempts(...Array.from({ length: 5 * FIRST_TOKENS_MAX }, (_, index) => streamed(index)));
    const oldest = 4 * FIRST_TOKENS_MAX;
    expect(of(world).firstToken?.typicalMs).toBeGreaterThanOrEqual(oldest);
  });

  it('opens no circuit: failures that are not in a row do not, however many', () => {
    const world = new World();
    for (let turn = 0; turn < 50; turn += 1) world.attempts(FAILURE, FAILURE, SUCCESS);
    expect([world.kind, of(world)]).toMatchObject(['closed', { counted: 150, failed: 100 }]);
  });
});
