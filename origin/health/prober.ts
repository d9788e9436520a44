import type { Clock } from '../clock.ts';
import type { Circuits, Ticket } from './circuits.ts';
import { Departure } from './departure.ts';
import { type ProbeCall, type ProbeResult, probe } from './probe.ts';
import type { ProbeTarget } from './probe-plan.ts';
import type { Standings } from './standings.ts';

/** How far an interval may be off, of itself, so that the origins of a zone do not probe in step. */
const JITTER = 0.1;

/** Longest time that a timer of Node can hold, in milliseconds. */
const LONGEST_MS = 2_147_483_647;

/** What the probes of one endpoint have cost since the start. */
export interface ProbeCost {
  readonly probes: number;
  /** Tokens as the endpoint counted them. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Probes of which it gave no count of its output. */
  readonly uncounted: number;
}

export interface ProberSetup {
  readonly call: ProbeCall;
  readonly circuits: Circuits;
  readonly standings: Standings;
  readonly clock: Clock;
  /** Evenly from 0 up to 1; seeded where a run has to be repeatable. */
  random(): number;
  /** Told of each probe that has ended. */
  probed(target: ProbeTarget, result: ProbeResult): void;
}

interface Round {
  readonly target: ProbeTarget;
  /** When its next probe is due, in ms since the epoch; undefined while one is under way. */
  due: number | undefined;
  cancel(): void;
}

/**
 * Probes endpoints on their intervals, half-open ones too, so that an endpoint comes back without a caller
 * who has to try it first. A probe asks the circuits for leave as any call does: an open circuit, a cool-down
 * and a person's order hold for it too.
 */
export class Prober {
  readonly #setup: ProberSetup;
  readonly #rounds = new Map<string, Round>();
  readonly #costs = new Map<string, ProbeCost>();
  readonly #running = new Set<Promise<void>>();
  readonly #stopped = new AbortController();
  readonly #unwatch: () => void;

  constructor(setup: ProberSetup) {
    this.#setup = setup;
    this.#unwatch = setup.standings.watch(({ endpoint, after }) => {
      if (after.circuit.kind === 'open') this.#bringForward(endpoint, after.circuit.until);
    });
  }

  /** Probes these endpoints from now on, and no others. */
  aim(targets: readonly ProbeTarget[]): void {
    for (const { cancel } of this.#rounds.values()) cancel();
    this.#rounds.clear();
    if (this.#stopped.signal.aborted) return;
    // The first ones are spread over the interval, so that a start is no burst.
    for (const target of targets) this.#schedule(target, this.#setup.random() * target.intervalMs);
  }

  /** What probes have cost, by endpoint. */
  get costs(): ReadonlyMap<string, ProbeCost> {
    return this.#costs;
  }

  /** Breaks off what is under way; it counts for nothing. */
  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#unwatch();
    this.aim([]);
    await Promise.all(this.#running);
  }

  #schedule(target: ProbeTarget, ms: number): void {
    const { clock } = this.#setup;
    const afterMs = Math.min(Math.max(ms, 0), LONGEST_MS);
    const round: Round = { target, due: clock.now() + afterMs, cancel: () => undefined };
    round.cancel = clock.setTimeout(() => this.#turn(round), afterMs);
    this.#rounds.set(target.endpoint, round);
  }

  #bringForward(endpoint: string, at: number): void {
    const round = this.#rounds.get(endpoint);
    if (round?.due === undefined || at >= round.due) return;
    round.cancel();
    this.#schedule(round.target, at - this.#setup.clock.now());
  }

  #turn(round: Round): void {
    round.due = undefined;
    const running = this.#take(round).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  /** One turn of an endpoint. The next is set only when this one has ended, so that a silent one gathers none. */
  async #take(round: Round): Promise<void> {
    const { circuits, clock, random } = this.#setup;
    const { target } = round;
    const next = clock.now() + target.intervalMs * (1 + JITTER * (2 * random() - 1));
    const ticket = circuits.begin(target.endpoint);
    if (ticket.ok) await this.#probe(target, ticket.value);
    if (this.#rounds.get(target.endpoint) !== round) return;
    const health = circuits.snapshot().of(target.endpoint);
    const at = health.usable ? next : Math.min(next, health.retryAt);
    this.#schedule(target, at - clock.now());
  }

  async #probe(target: ProbeTarget, ticket: Ticket): Promise<void> {
    const { circuits, standings, call, clock } = this.#setup;
    const { maxTtftMs } = standings.settingsOf(target.endpoint);
    const departure = new Departure({ circuits, clock, ticket });
    const result = await probe({ target, call, clock, maxTtftMs, departure }, this.#stopped.signal);
    circuits.report(ticket, result.outcome);
    if (result.evidence) circuits.quarantine(target.endpoint, MISPLACED, result.evidence);
    this.#count(target.endpoint, result);
    this.#setup.probed(target, result);
  }

  #count(endpoint: string, { inputTokens, outputTokens }: ProbeResult): void {
    const cost = this.#costs.get(endpoint) ?? { probes: 0, inputTokens: 0, outputTokens: 0, uncounted: 0 };
    this.#costs.set(endpoint, {
      probes: cost.probes + 1,
      inputTokens: cost.inputTokens + (inputTokens ?? 0),
      outputTokens: cost.outputTokens + (outputTokens ?? 0),
      uncounted: cost.uncounted + (outputTokens === null ? 1 : 0),
    });
  }
}

const MISPLACED = 'its answer to a probe gave evidence of a region outside the policy';
