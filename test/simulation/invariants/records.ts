import { leafHash } from '../../../shared/merkle/hash.ts';
import { isEnd, type Logged } from '../log-index.ts';
import { CONTENT, type Scene, visitsOf } from '../scene.ts';
import type { Places } from './places.ts';

/** What must hold for each record, and for the log as a whole. */
export class RecordRules {
  readonly #scene: Scene;
  readonly #places: Places;

  constructor(scene: Scene, places: Places) {
    this.#scene = scene;
    this.#places = places;
  }

  written(logged: Logged): void {
    const { row, record } = logged;
    const { canonical = '' } = row;
    const content = CONTENT.find((text) => canonical.includes(text));
    if (content !== undefined) this.#broken(logged, `holds "${content}"`);
    if (!leafHash(canonical).equals(row.leaf)) this.#broken(logged, 'has a leaf that is not its own');
    if (record.kind === 'pending') this.#pending(logged);
    if (record.kind === 'served' || isEnd(record)) this.#followsPending(logged);
    if (record.kind === 'refused') this.#refused(logged);
  }

  /** Nothing is under way any more: each `pending` has one end. */
  atRest(): void {
    for (const logged of this.#scene.log.byId.values()) {
      const { kind, id } = logged.record;
      if (kind === 'pending' && !this.#scene.log.ends.has(id)) this.#broken(logged, 'has no end');
    }
  }

  #pending(logged: Logged): void {
    const { request_id: call = '', attempt, endpoint = '', workload = '' } = logged.record;
    const all = this.#scene.log.pendingsOf(call);
    const index = all.indexOf(logged);
    if (attempt !== index + 1)
      this.#broken(logged, `is attempt ${attempt} and the ${index + 1}. of its call`);
    const { overSince = Number.POSITIVE_INFINITY } = this.#scene.callers.get(call) ?? {};
    if (Date.parse(logged.record.at) > overSince) this.#broken(logged, 'was begun when its call was over');
    const before = all[index - 1]?.record.endpoint;
    const placeOf = (id: string) => this.#places.placeOf(id, workload);
    if (before !== undefined && placeOf(before) >= placeOf(endpoint)) {
      this.#broken(logged, `comes after ${before} against the order of the graph`);
    }
  }

  #followsPending(logged: Logged): void {
    const { kind, pending_id: pendingId, request_id, endpoint, attempt } = logged.record;
    // Evidence that a probe gave belongs to no call.
    if (kind === 'violation' && pendingId === undefined && request_id === undefined) return;
    const pending = this.#scene.log.byId.get(pendingId ?? '');
    if (pending?.record.kind !== 'pending') {
      this.#broken(logged, 'belongs to no pending before it');
      return;
    }
    const of = pending.record;
    const same = of.request_id === request_id && of.endpoint === endpoint && of.attempt === attempt;
    if (!same) this.#broken(logged, 'is of another attempt than its pending');
    const ends = this.#scene.log.ends.get(of.id) ?? [];
    if (isEnd(logged.record) ? ends.length > 1 : ends.length > 0) this.#broken(logged, 'comes after an end');
  }

  #refused(logged: Logged): void {
    const { request_id: call = '' } = logged.record;
    if (visitsOf(this.#scene, call).length > 0) this.#broken(logged, 'is of a call that was forwarded');
  }

  #broken({ record }: Logged, what: string): void {
    const { kind, request_id: call = 'no call', endpoint = 'no endpoint' } = record;
    this.#scene.broken(`the record "${kind}" of ${call} at ${endpoint} ${what}`);
  }
}
