import type { Circuit } from '../../../origin/health/circuit.ts';
import { type Scene, visitsOf } from '../scene.ts';
import type { Visit } from '../visit.ts';
import { modelAt } from '../written.ts';
import type { Places } from './places.ts';

/** What must hold at the moment at which the first byte of a call reaches an endpoint. */
export class ArrivalRules {
  readonly #scene: Scene;
  readonly #places: Places;
  /** Each `pending` announces one visit. */
  readonly #announced = new Set<string>();
  /** Endpoints with evidence against them on record that nobody has released, and since when. */
  readonly #quarantined = new Map<string, number>();

  constructor(scene: Scene, places: Places) {
    this.#scene = scene;
    this.#places = places;
  }

  /** @param circuit what the process itself knows of the endpoint */
  arrived(visit: Visit, body: string, circuit: Circuit | undefined): void {
    const { endpoint, workload } = visit;
    if (!body.includes(`"model":"${modelAt(endpoint, workload)}"`)) this.#broken(visit, 'with a wrong model');
    if (this.#quarantined.has(endpoint)) this.#broken(visit, 'though evidence against it is on record');
    if (circuit?.kind === 'quarantined') this.#broken(visit, 'though the process knows it is quarantined');
    if (visit.call === undefined) this.#probe(visit);
    else this.#call(visit, visit.call);
  }

  /** Evidence against an endpoint has become durable. */
  violation(endpoint: string): void {
    this.#quarantined.set(endpoint, this.#scene.clock.now());
  }

  released(endpoint: string): void {
    this.#quarantined.delete(endpoint);
  }

  /** Since when evidence against it is on record, in ms since the epoch. */
  quarantinedSince(endpoint: string): number | undefined {
    return this.#quarantined.get(endpoint);
  }

  #probe(visit: Visit): void {
    const allowed = this.#places.allowed(visit.workload);
    if (!allowed.includes(visit.endpoint))
      this.#broken(visit, 'outside of what the policy allows to anybody');
  }

  #call(visit: Visit, call: string): void {
    const { log, callers } = this.#scene;
    const caller = callers.get(call);
    if (caller === undefined) {
      this.#broken(visit, 'for nobody');
      return;
    }
    const { ask } = caller;
    const allowed = this.#places.allowed(ask.workload, ask.member);
    if (!allowed.includes(visit.endpoint)) this.#broken(visit, 'outside of what its caller is allowed');
    if (visit.workload !== ask.workload) this.#broken(visit, 'for another workload');
    if (ask.flaw !== undefined) this.#broken(visit, `though the call had ${ask.flaw}`);
    if (caller.status !== undefined) this.#broken(visit, 'though its caller had an answer already');
    const earlier = visitsOf(this.#scene, call).filter((one) => one !== visit && !one.over);
    if (earlier.length > 0) this.#broken(visit, `while ${earlier[0]?.endpoint} was still asked`);
    const pending = log
      .pendingsOf(call)
      .find(({ record: { id } }) => !log.ends.has(id) && !this.#announced.has(id));
    if (pending?.record.endpoint !== visit.endpoint) {
      this.#broken(visit, 'without a durable pending');
      return;
    }
    this.#announced.add(pending.record.id);
    visit.begunAt = Date.parse(pending.record.at);
  }

  #broken({ call, endpoint }: Visit, what: string): void {
    this.#scene.broken(`${call ?? 'a probe'} reached ${endpoint} ${what}`);
  }
}
