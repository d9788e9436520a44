import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import { allowedIds, type Caller } from '../../matrix/allowed.ts';
import type { Documents } from '../documents.ts';

/** For whom the gateway itself asks an endpoint how it is: what is allowed to it is what everybody is allowed. */
const NOBODY: Caller = { tenant: '' };

/** Where calls may run, by the test's own reading of the documents. */
export class Places {
  readonly #documents: Documents;
  readonly #known = new Map<string, readonly string[]>();
  readonly #callers: Caller[] = [];

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  /** The endpoints that may ever see a call, of either API. */
  allowed(workload: string, caller: Caller = NOBODY): readonly string[] {
    const key = `${workload} ${this.#numberOf(caller)}`;
    const known = this.#known.get(key) ?? this.#read(workload, caller, this.#endpoints());
    this.#known.set(key, known);
    return known;
  }

  /** Whether an answer that ran in this region may reach the caller. */
  mayRunIn(region: string, endpoint: string, workload: string, caller: Caller): boolean {
    const moved = this.#endpoints().map((one) => (one.id === endpoint ? { ...bare(one), region } : one));
    return this.#read(workload, caller, moved).includes(endpoint);
  }

  /** The place of an endpoint in the graph of a workload. */
  placeOf(endpoint: string, workload: string): number {
    const failover = this.#documents.written.workloads[workload]?.failover;
    return [failover?.primary, ...(failover?.secondary ?? []), failover?.last_resort].indexOf(endpoint);
  }

  #endpoints(): readonly Endpoint[] {
    return [...this.#documents.config.registry.values()];
  }

  #read(workload: string, caller: Caller, endpoints: readonly Endpoint[]): readonly string[] {
    return allowedIds(this.#documents.written, 'eu', workload, caller, endpoints);
  }

  #numberOf(caller: Caller): number {
    const number = this.#callers.indexOf(caller);
    return number === -1 ? this.#callers.push(caller) - 1 : number;
  }
}

/** An endpoint without its country, which follows from its region. */
const bare = ({ country: _, zone: __, ...rest }: Endpoint): Endpoint => rest;
