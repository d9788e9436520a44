import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ProbeResult } from '../../../origin/health/probe.ts';
import { Prober } from '../../../origin/health/prober.ts';
import { settled } from '../../support/manual-clock.ts';
import { answer, ProbeDouble, target } from './probe-double.ts';
import { SUCCESS, World } from './world.ts';

describe('the prober', () => {
  let world: World;
  let call: ProbeDouble;
  let prober: Prober;
  let results: ProbeResult[];
  /** 0.5 is the middle: no jitter. */
  let random: number;

  beforeEach(() => {
    world = new World();
    call = new ProbeDouble();
    results = [];
    random = 0.5;
    const probed = (_: unknown, result: ProbeResult) => void results.push(result);
    const { circuits, standings, clock } = world;
    prober = new Prober({ call, circuits, standings, clock, random: () => random, probed });
  });

  afterEach(() => prober.stop());

  /** Lets time pass in small steps, with everything that becomes ready in between. */
  async function pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; left -= 1_000) {
      world.clock.advance(Math.min(left, 1_000));
      await settled();
    }
  }

  it('probes each endpoint on its own interval, the first time somewhere within it', async () => {
    prober.aim([target('fra'), target('dub', { intervalMs: 30_000 })]);
    await pass(4_000);
    expect(call.sent).toEqual([]);
    await pass(56_000);
    const sent = call.sent.map(({ endpoint }) => endpoint);
    expect(sent.filter((endpoint) => endpoint === 'fra')).toHaveLength(6);
    expect(sent.filter((endpoint) => endpoint === 'dub')).toHaveLength(2);
  });

  it('is a tenth early or late at most', async () => {
    random = 0;
    prober.aim([target('fra')]);
    await pass(1);
    expect(call.sent).toHaveLength(1);
    await pass(8_998);
    expect(call.sent).toHaveLength(1);
    random = 0.999_999;
    await pass(1);
    expect(call.sent).toHaveLength(2);
    await pass(10_998);
    expect(call.sent).toHaveLength(2);
    await pass(2);
    expect(call.sent).toHaveLength(3);
  });

  it('opens the circuit of an endpoint that fails, leaves it alone, and finds it well again without a caller', async () => {
    prober.aim([target('fra', { intervalMs: 20_000 })]);
    call.answer = answer(503);
    await pass(50_000);
    expect(world.health).toMatchObject({
      usable: false,
      why: expect.stringContaining('probe failing: answered 503'),
    });
    await pass(29_000);
    expect(call.sent).toHaveLength(3);
    call.answer = answer(200, { choices: [{ finish_reason: 'length', message: {} }] });
    await pass(1_000);
    expect(call.sent).toHaveLength(4);
    expect(world.kind).toBe('closed');
  });

  it('comes back at once when the rest of a circuit that callers opened is over, though its interval is a day', async () => {
    prober.aim([target('fra', { intervalMs: 86_400_000 })]);
    await pass(1_000);
    world.open();
    await pass(29_000);
    expect(call.sent).toEqual([]);
    await pass(1_000);
    expect(call.sent).toHaveLength(1);
    expect(world.kind).toBe('closed');
  });

  it('leaves the one probe of a half-open circuit to the caller who has it', async () => {
    world.halfOpen();
    const ticket = world.ticket();
    prober.aim([target('fra')]);
    await pass(10_000);
    expect(call.sent).toEqual([]);
    world.circuits.report(ticket, SUCCESS);
    await pass(10_000);
    expect(call.sent).not.toEqual([]);
  });

  it('has one probe out to an endpoint that does not answer, not one for each interval', async () => {
    call.answer = () => new Promise(() => undefined);
    prober.aim([target('fra', { intervalMs: 1_000 })]);
    await pass(9_000);
    expect(call.sent).toHaveLength(1);
    await pass(4_000);
    expect(call.sent).toHaveLength(2);
  });

  it.each([
    ['forced open', (w: World) => void w.orders.force('fra', 'forced_open', { by: 'x', why: 'x' })],
    ['in quarantine', (w: World) => w.circuits.quarantine('fra', 'elsewhere')],
  ])('sends nothing to an endpoint that is %s', async (_, order) => {
    prober.aim([target('fra')]);
    order(world);
    await pass(120_000);
    expect(call.sent).toEqual([]);
  });

  it('waits out the cool-down that an endpoint asks for', async () => {
    prober.aim([target('fra', { intervalMs: 2_000 })]);
    call.answer = answer(429, {}, { 'retry-after': '20' });
    await pass(1_000);
    await pass(19_000);
    expect(call.sent).toHaveLength(1);
    await pass(2_000);
    expect(call.sent).toHaveLength(2);
    expect(world.kind).toBe('closed');
  });

  it('puts an endpoint into quarantine that answers from elsewhere', async () => {
    prober.aim([target('fra')]);
    call.evidence = { region: 'us-east-1', source: 'response_header' };
    await pass(5_000);
    expect(world.standings.of('fra').circuit).toMatchObject({ kind: 'quarantined', evidence: call.evidence });
  });

  it('adds up what its probes cost', async () => {
    prober.aim([target('fra')]);
    await pass(15_000);
    call.answer = answer(503);
    await pass(10_000);
    expect(prober.costs.get('fra')).toEqual({ probes: 3, inputTokens: 18, outputTokens: 6, uncounted: 1 });
    expect(results.map(({ outcome }) => outcome.kind)).toEqual(['success', 'success', 'failure']);
  });

  it('probes what it is aimed at from then on, and nothing else', async () => {
    prober.aim([target('fra')]);
    await pass(5_000);
    prober.aim([target('dub')]);
    await pass(60_000);
    expect(call.sent.slice(1).map(({ endpoint }) => endpoint)).not.toContain('fra');
    expect(call.sent.length).toBeGreaterThan(4);
  });

  it('drops an old aim also while its probe is out', async () => {
    const gate = Promise.withResolvers<void>();
    call.answer = () => gate.promise.then(answer(503));
    prober.aim([target('fra')]);
    await pass(5_000);
    prober.aim([]);
    gate.resolve();
    await pass(60_000);
    expect(call.sent).toHaveLength(1);
  });

  it('stops at once, leaves no timer, and counts what it broke off for nothing', async () => {
    call.answer = () => new Promise(() => undefined);
    prober.aim([target('fra'), target('dub')]);
    await pass(5_000);
    await prober.stop();
    expect(world.clock.waiting).toBe(0);
    expect(call.sent.map(({ signal }) => signal.aborted)).toEqual([true, true]);
    expect(world.standings.of('fra').circuit).toMatchObject({ kind: 'closed', failures: 0 });
  });
});
