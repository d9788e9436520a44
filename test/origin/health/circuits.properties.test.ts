import fc from 'fast-check';
import { expect, it } from 'vitest';
import { slotMs } from '../../../origin/health/circuit-time.ts';
import type { Ticket } from '../../../origin/health/circuits.ts';
import type { Outcome } from '../../../origin/health/outcome.ts';
import { busy, FAILURE, NEUTRAL, SETTINGS, SLOW, SUCCESS, World } from './world.ts';

type Move =
  | { readonly kind: 'begin' }
  | { readonly kind: 'report'; readonly which: number; readonly outcome: Outcome }
  | { readonly kind: 'pass'; readonly ms: number }
  | { readonly kind: 'step'; readonly ms: number }
  | { readonly kind: 'order'; readonly order: 'open' | 'closed' | 'release' | 'quarantine' };

const outcome = fc.oneof(
  { weight: 4, arbitrary: fc.constant(FAILURE) },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Outcome>(SUCCESS, NEUTRAL, SLOW, { kind: 'credential', why: 'x' }),
  },
  { weight: 2, arbitrary: fc.integer({ min: -5, max: 1e7 }).map(busy) },
);
const natural = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('begin' as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('report' as const), which: fc.nat(1_000), outcome }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(40_000) }) },
);
const step = fc.record({ kind: fc.constant('step' as const), ms: fc.integer({ min: -1e7, max: 1e7 }) });
const order = fc.record({
  kind: fc.constant('order' as const),
  order: fc.constantFrom('open' as const, 'closed' as const, 'release' as const, 'quarantine' as const),
});

/** One run: what the tickets out there are, and when the circuit was seen to open. */
class Run extends World {
  readonly out: Ticket[] = [];
  elapsed = 0;
  readonly #probes = new Map<Ticket, number>();
  #openedAt = Number.NEGATIVE_INFINITY;

  make(move: Move): void {
    switch (move.kind) {
      case 'begin':
        this.#begin();
        break;
      case 'report':
        this.#report(move.which, move.outcome);
        break;
      case 'pass':
        this.elapsed += move.ms;
        this.clock.advance(move.ms);
        break;
      case 'step':
        this.clock.stepWall(move.ms);
        break;
      case 'order':
        this.#order(move.order);
        break;
    }
  }

  #begin(): void {
    const begun = this.circuits.begin('fra');
    if (!begun.ok) return;
    expect(this.elapsed - this.#openedAt).toBeGreaterThanOrEqual(SETTINGS.halfOpenAfterMs);
    if (begun.value.probe) {
      for (const [, since] of this.#probes) {
        expect(this.elapsed - since).toBeGreaterThanOrEqual(slotMs(SETTINGS));
      }
      this.#probes.set(begun.value, this.elapsed);
    }
    this.out.push(begun.value);
  }

  #report(which: number, told: Outcome): void {
    const [ticket] = this.out.splice(which % Math.max(this.out.length, 1), 1);
    if (ticket === undefined) return;
    this.standings.now();
    const before = this.standings.of('fra');
    this.circuits.report(ticket, told);
    const after = this.standings.of('fra');
    this.#probes.delete(ticket);
    const late = ticket.generation !== before.circuit.generation;
    if (late) expect(after).toBe(before);
    if (told.kind === 'busy' && before.circuit.kind === 'closed') {
      expect(after.circuit).toMatchObject({ kind: 'closed', failures: before.circuit.failures });
    }
    const opened = after.circuit.kind === 'open' && before.circuit.kind !== 'open';
    if (opened) this.#openedAt = this.elapsed;
    const hurts = told.kind !== 'success' && told.kind !== 'neutral' && told.kind !== 'busy';
    expect(opened && !hurts).toBe(false);
  }

  /** What is out when a person decides has no say any more. */
  #order(order: 'open' | 'closed' | 'release' | 'quarantine'): void {
    this.#probes.clear();
    this.#openedAt = Number.NEGATIVE_INFINITY;
    const by = { by: 'a.person', why: 'x' };
    if (order === 'release') this.orders.release('fra', this.orders.of('fra').circuit);
    else if (order === 'quarantine') this.circuits.quarantine('fra', 'x');
    else this.orders.force('fra', `forced_${order}`, by);
  }
}

it('never has two probes out, lets nobody through an open circuit, and hears no late result', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 12, arbitrary: natural }, { weight: 1, arbitrary: order })),
      (moves) => {
        const run = new Run();
        for (const move of moves) run.make(move);
      },
    ),
    { numRuns: 500 },
  );
});

it('is never locked for ever, whatever was lost and however the clock was set', () => {
  const moves = fc.array(fc.oneof({ weight: 8, arbitrary: natural }, { weight: 1, arbitrary: step }));
  fc.assert(
    fc.property(moves, (list) => {
      const world = new World();
      const out: Ticket[] = [];
      for (const move of list) {
        if (move.kind === 'pass') world.clock.advance(move.ms);
        if (move.kind === 'step') world.clock.stepWall(move.ms);
        if (move.kind === 'begin') {
          const begun = world.circuits.begin('fra');
          if (begun.ok) out.push(begun.value);
        }
        if (move.kind === 'report') {
          const [ticket] = out.splice(move.which % Math.max(out.length, 1), 1);
          if (ticket) world.circuits.report(ticket, move.outcome);
        }
        world.circuits.snapshot();
      }
      world.clock.advance(Math.max(slotMs(SETTINGS), SETTINGS.halfOpenAfterMs, 60_000));
      expect(world.circuits.begin('fra').ok).toBe(true);
    }),
    { numRuns: 500 },
  );
});

it('keeps a quarantine through everything but a release', () => {
  const moves = fc.array(
    fc.oneof(
      natural,
      step,
      order.filter(({ order: name }) => name !== 'release'),
    ),
  );
  fc.assert(
    fc.property(fc.array(natural), moves, (before, after) => {
      const run = new Run();
      for (const move of before) run.make(move);
      run.circuits.quarantine('fra', 'elsewhere');
      for (const move of after) {
        run.make(move);
        expect(run.health.usable).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});
