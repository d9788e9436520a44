import { ManualClock } from '../support/manual-clock.ts';
import { newAsk } from './asks.ts';
import { Caller, edgeHeaders } from './caller.ts';
import { Chance } from './chance.ts';
import { Disk } from './disk.ts';
import type { Documents } from './documents.ts';
import { Endpoints } from './endpoints.ts';
import { forkedCheckpoints, shrunkCheckpoints } from './invariants/checkpoints.ts';
import { Watch } from './invariants/watch.ts';
import { LogIndex } from './log-index.ts';
import { Machine } from './machine.ts';
import { order } from './operator.ts';
import type { SimulatedOrigin } from './origin.ts';
import type { Stillness } from './stillness.ts';
import { type Tally, tallyOf } from './tally.ts';
import { newWire } from './wire.ts';
import { ENDPOINT_IDS } from './written.ts';

/** What happens next, each as often as its weight says. */
const STEPS = [
  ['call', 46],
  ['time', 44],
  ['mood', 9],
  ['burst', 0.8],
  ['operator', 1.5],
  ['crash', 0.35],
  ['stop', 0.25],
] as const;

/** Longest that anything may take once all is well again, in ms: the sum of the limits, and more. */
const CALM_MS = 120_000;

/** One zone with everything around its origin, driven by a seed. */
export class World {
  readonly #documents: Documents;
  readonly #stillness: Stillness;
  readonly #chance: Chance;
  readonly #clock = new ManualClock();
  readonly #disk: Disk;
  readonly #endpoints: Endpoints;
  readonly #machine: Machine;
  readonly #callers = new Map<string, Caller>();
  readonly #watch: Watch;
  readonly #broken: string[] = [];

  constructor(seed: number, documents: Documents, stillness: Stillness) {
    const [chance, clock] = [new Chance(seed), this.#clock];
    const disk = new Disk(chance, stillness);
    const broken = (what: string) => void this.#broken.push(what);
    const endpoints = new Endpoints({
      chance,
      clock,
      stillness,
      arrived: (visit, body) => this.#watch.arrived(visit, body),
    });
    this.#documents = documents;
    this.#stillness = stillness;
    this.#chance = chance;
    this.#disk = disk;
    this.#endpoints = endpoints;
    this.#machine = new Machine({
      ...{ documents, clock, chance, disk, endpoints, broken },
      pass: (ms) => this.#pass(ms),
      started: (origin) => this.#watch.started(origin),
    });
    this.#watch = new Watch({
      ...{ documents, clock, broken, callers: this.#callers },
      log: new LogIndex(disk.rows),
      visits: endpoints.visits,
    });
  }

  /** Lives through so many calls, and a calm after them. Rejects with the first invariants that broke. */
  async run(calls: number): Promise<Tally> {
    while (this.#callers.size < calls) await this.#step(await this.#machine.running());
    await this.#calm();
    this.#watch.atRest();
    if (this.#chance.hit(0.5)) await this.#machine.stop();
    else this.#machine.crash();
    await this.#machine.running();
    this.#watch.atRest();
    for (const note of forkedCheckpoints(this.#disk)) this.#broken.push(`signed over other records: ${note}`);
    for (const number of shrunkCheckpoints(this.#disk)) this.#broken.push(`checkpoint ${number} is smaller`);
    this.#judge();
    return tallyOf({
      starts: this.#machine.starts,
      callers: this.#callers.values(),
      rows: this.#disk.rows,
      visits: this.#endpoints.visits,
    });
  }

  async #step(origin: SimulatedOrigin): Promise<void> {
    const chance = this.#chance;
    switch (chance.weighted(STEPS, 'time')) {
      case 'call':
        return await this.#call(origin);
      case 'burst':
        for (let left = chance.int(5, 25); left > 0 && !origin.life.over; left -= 1) await this.#call(origin);
        return;
      case 'time':
        return await this.#pass(chance.hit(0.05) ? chance.int(2_000, 12_000) : chance.int(1, 700));
      case 'mood':
        this.#endpoints.change(chance.pick(['fra', ...ENDPOINT_IDS]));
        return;
      case 'operator':
        return await this.#order(origin);
      case 'crash':
        this.#machine.crash();
        return;
      case 'stop':
        return await this.#machine.stop();
    }
  }

  async #call({ startedAt, life, connect }: SimulatedOrigin): Promise<void> {
    const ask = newAsk(this.#callers.size, this.#documents.members, this.#chance);
    const moved = () => this.#stillness.moved();
    const caller = new Caller(ask, this.#clock, moved);
    const headers = await edgeHeaders(ask, this.#documents.edgeKey, Math.max(startedAt, this.#clock.now()));
    this.#callers.set(ask.id, caller);
    const wire = newWire(moved);
    life.atEnd(() => wire.far.destroy());
    connect(wire);
    caller.call(wire, headers);
    // Some calls meet others in mid-air.
    if (this.#chance.hit(0.7)) await this.#still();
  }

  /** Nothing else happens in the same millisecond, so that one can tell what came before an order. */
  async #order(origin: SimulatedOrigin): Promise<void> {
    await this.#pass(1);
    if (origin.life.over) return;
    const endpoint = this.#chance.pick(['fra', ...ENDPOINT_IDS]);
    order({ endpoint, origin, watch: this.#watch, chance: this.#chance, now: this.#clock.now() });
    await this.#pass(1);
  }

  /** Everything is well again, and time passes until nobody can be waiting any more. */
  async #calm(): Promise<void> {
    this.#endpoints.calm();
    this.#disk.sound = true;
    for (let passed = 0; passed < CALM_MS; passed += 1_000) {
      await this.#machine.running();
      await this.#pass(1_000);
    }
  }

  /** Lets time pass, in slices, so that what it sets off can go on between. */
  async #pass(ms: number): Promise<void> {
    const slice = Math.ceil(ms / (ms > 2_000 ? 12 : 4));
    for (let passed = 0; passed < ms; passed += slice) {
      this.#clock.advance(slice);
      await this.#still();
    }
  }

  async #still(): Promise<void> {
    await this.#stillness.reached();
    await this.#watch.look();
    this.#judge();
  }

  #judge(): void {
    if (this.#broken.length > 0) throw new Error([...new Set(this.#broken)].slice(0, 5).join('\n'));
  }
}
