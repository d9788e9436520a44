import { type Dispatcher, Pool } from 'undici';
import type { Clock } from '../../origin/clock.ts';
import type { Endpoint } from '../../origin/endpoints/endpoint.ts';
import { Pools } from '../../origin/forward/pools.ts';
import type { Limits } from '../../origin/limits.ts';
import type { Chance } from './chance.ts';
import type { Life } from './life.ts';
import { MOODS, type Mood, planOf } from './plan.ts';
import type { Stillness } from './stillness.ts';
import { Visit } from './visit.ts';

/** Told of each request that reaches an endpoint, before anything comes of it. */
export type OnArrival = (visit: Visit, body: string, life: Life) => void;

export interface EndpointsSetup {
  readonly chance: Chance;
  readonly clock: Clock;
  readonly stillness: Stillness;
  readonly arrived: OnArrival;
}

/** How a call is marked in its own prompt, so that whoever gets it knows whose it is. */
export const promptOf = (call: string): string => `prompt of ${call}.`;
const CALL = /prompt of ([a-z0-9-]+)\./;

/** The endpoints of the zone as the world has them: each in its mood, and all their visits. */
export class Endpoints {
  readonly visits: Visit[] = [];
  readonly #setup: EndpointsSetup;
  readonly #moods = new Map<string, Mood>();

  constructor(setup: EndpointsSetup) {
    this.#setup = setup;
  }

  /** Puts an endpoint into a mood, well or not. */
  change(endpoint: string): void {
    const { chance } = this.#setup;
    this.#moods.set(endpoint, chance.hit(0.5) ? 'well' : chance.pick(MOODS));
  }

  calm(): void {
    this.#moods.clear();
  }

  /** The connections of one process. */
  poolsOf(life: Life, limits: Limits): Pools {
    return new SimulatedPools(this, life, limits);
  }

  visit(endpoint: Endpoint, body: string, handler: Dispatcher.DispatchHandler, life: Life): void {
    const { chance, clock, stillness, arrived } = this.#setup;
    const call = CALL.exec(body)?.[1];
    const { id, api, region = '' } = endpoint;
    const workload = workloadOf(endpoint, body);
    const asked = { api, stream: body.includes('"stream":true'), name: `${id} visit ${this.visits.length}` };
    // Few endpoints do the same with every request.
    const mood = chance.hit(0.7) ? (this.#moods.get(id) ?? 'well') : 'well';
    const plan = planOf(mood, asked, region, chance);
    const visit = new Visit(
      { endpoint: id, call, workload, plan, clock, moved: () => stillness.moved() },
      handler,
    );
    this.visits.push(visit);
    stillness.moved();
    arrived(visit, body, life);
    life.atEnd(() => visit.forget());
    visit.begin();
  }
}

const workloadOf = ({ models }: Endpoint, body: string): string =>
  Object.keys(models).find((workload) => body.includes(`"model":"${models[workload]}"`)) ?? '';

class SimulatedPools extends Pools {
  readonly #endpoints: Endpoints;
  readonly #life: Life;
  readonly #all = new Map<string, SimulatedPool>();

  constructor(endpoints: Endpoints, life: Life, limits: Limits) {
    super(limits, life.clock);
    this.#endpoints = endpoints;
    this.#life = life;
  }

  override of(endpoint: Endpoint): Pool {
    const known = this.#all.get(endpoint.id);
    if (known) return known;
    const pool = new SimulatedPool(endpoint, this.#endpoints, this.#life);
    this.#all.set(endpoint.id, pool);
    return pool;
  }
}

/** A pool whose requests go to the simulated endpoint in place of a connection. */
class SimulatedPool extends Pool {
  readonly #endpoint: Endpoint;
  readonly #endpoints: Endpoints;
  readonly #life: Life;

  constructor(endpoint: Endpoint, endpoints: Endpoints, life: Life) {
    super(endpoint.baseUrl.origin);
    this.#endpoint = endpoint;
    this.#endpoints = endpoints;
    this.#life = life;
  }

  override dispatch({ body }: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    if (!Buffer.isBuffer(body)) throw new Error('a simulated call has a short body');
    this.#endpoints.visit(this.#endpoint, body.toString(), handler, this.#life);
    return true;
  }
}
