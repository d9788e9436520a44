import type { RejectedCandidate } from '../../shared/errors.ts';
import type { Policy } from '../../shared/policy.ts';
import { graphOf } from '../../shared/policy-rules.ts';
import type { Resolution } from '../policy/resolve.ts';

/** Every endpoint that was considered for a call and passed over, with the reason, in the order of its graph. */
export class Considered {
  readonly #places: ReadonlyMap<string, number>;
  readonly #rejected: RejectedCandidate[];

  constructor({ workload, rejected }: Resolution, policy: Policy) {
    const failover = policy.workloads[workload]?.failover;
    const graph = failover === undefined ? [] : graphOf(failover);
    this.#places = new Map(graph.map(({ endpoint }, place) => [endpoint, place]));
    this.#rejected = [...rejected];
  }

  /** @param rejected in words for the person on call */
  reject(endpoint: string, rejected: string): void {
    this.#rejected.push({ endpoint, rejected });
  }

  get list(): RejectedCandidate[] {
    return this.#rejected.toSorted((one, other) => this.#place(one) - this.#place(other));
  }

  #place({ endpoint }: RejectedCandidate): number {
    return this.#places.get(endpoint) ?? this.#places.size;
  }
}
