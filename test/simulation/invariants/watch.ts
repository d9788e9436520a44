import type { Caller } from '../caller.ts';
import type { SimulatedOrigin } from '../origin.ts';
import type { Scene } from '../scene.ts';
import type { Visit } from '../visit.ts';
import { ENDPOINT_IDS } from '../written.ts';
import { AnswerRules } from './answers.ts';
import { ArrivalRules } from './arrivals.ts';
import { CircuitRules } from './circuits.ts';
import { Places } from './places.ts';
import { RecordRules } from './records.ts';

/** Holds every invariant against what happens. */
export class Watch {
  readonly arrivals: ArrivalRules;
  readonly #scene: Scene;
  readonly #records: RecordRules;
  readonly #answers: AnswerRules;
  readonly #judged = new Set<Caller>();
  #circuits: CircuitRules;
  #origin: SimulatedOrigin | undefined;

  constructor(scene: Scene) {
    const places = new Places(scene.documents);
    this.#scene = scene;
    this.arrivals = new ArrivalRules(scene, places);
    this.#records = new RecordRules(scene, places);
    this.#answers = new AnswerRules(scene, places);
    this.#circuits = new CircuitRules(scene);
  }

  /** A process has begun to take calls; circuits that the last one could not keep begin anew. */
  started(origin: SimulatedOrigin): void {
    this.#origin = origin;
    this.#circuits = new CircuitRules(this.#scene);
  }

  arrived(visit: Visit, body: string): void {
    this.#readLog();
    const { circuit } = this.#origin?.health.orders.of(visit.endpoint) ?? {};
    this.arrivals.arrived(visit, body, circuit);
    this.#circuits.arrived(visit);
  }

  /** An operator's order to an endpoint. */
  ordered(endpoint: string): void {
    this.#circuits.ordered(endpoint);
  }

  /** To be called whenever nothing moves. */
  async look(): Promise<void> {
    this.#readLog();
    if (this.#origin && !this.#origin.life.over) {
      for (const id of ENDPOINT_IDS) this.#circuits.look(id, this.#origin.health.orders.of(id).circuit);
    }
    for (const caller of this.#scene.callers.values()) {
      if (caller.state === 'waiting' || this.#judged.has(caller)) continue;
      this.#judged.add(caller);
      caller.overSince = this.#scene.clock.now();
      await this.#answers.over(caller);
    }
  }

  /** To be called when nothing can be under way any more. */
  atRest(): void {
    this.#readLog();
    this.#records.atRest();
    for (const { ask, state } of this.#scene.callers.values()) {
      if (state === 'waiting') this.#scene.broken(`${ask.id} was left without an answer`);
    }
  }

  #readLog(): void {
    for (const logged of this.#scene.log.catchUp()) {
      const { kind, endpoint } = logged.record;
      if (kind === 'violation' && endpoint !== undefined) this.arrivals.violation(endpoint);
      this.#records.written(logged);
    }
  }
}
