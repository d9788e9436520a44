import type { Clock } from '../../origin/clock.ts';
import { StoreError } from '../../origin/store/store.ts';
import type { Chance } from './chance.ts';
import type { Disk } from './disk.ts';
import type { Documents } from './documents.ts';
import type { Endpoints } from './endpoints.ts';
import { Life } from './life.ts';
import { type SimulatedOrigin, startSimulated } from './origin.ts';
import { CONTENT } from './scene.ts';

/** Longest that a process may take to stop, in ms: the sum of its limits, and more. */
const STOP_MS = 60_000;

export interface MachineSetup {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly chance: Chance;
  readonly disk: Disk;
  readonly endpoints: Endpoints;
  /** Lets time pass, in ms. */
  pass(ms: number): Promise<void>;
  started(origin: SimulatedOrigin): void;
  broken(what: string): void;
}

/** Where the processes of the origin run, one after the other, over one disk. */
export class Machine {
  readonly #setup: MachineSetup;
  #origin: SimulatedOrigin | undefined;
  #starts = 0;

  constructor(setup: MachineSetup) {
    this.#setup = setup;
  }

  get starts(): number {
    return this.#starts;
  }

  /** The process that runs, or a new one; a start that fails or does not live to its end is made again. */
  async running(): Promise<SimulatedOrigin> {
    while (this.#origin === undefined || this.#origin.life.over) await this.#start();
    return this.#origin;
  }

  /** Ends the process in the midst of whatever it does. */
  crash(): void {
    this.#origin?.life.end();
  }

  /** Ends the process as its operator would, or as far as it gets. */
  async stop(): Promise<void> {
    const origin = this.#origin;
    if (origin === undefined || origin.life.over) return;
    let stopped = false;
    origin.stop().then(
      () => {
        stopped = true;
      },
      (cause: unknown) => this.#setup.broken(`the stop broke: ${String(cause)}`),
    );
    for (let passed = 0; !stopped && !origin.life.over; passed += 100) {
      if (passed > STOP_MS) throw new Error('the origin does not stop');
      await this.#setup.pass(100);
    }
    origin.life.end();
  }

  async #start(): Promise<void> {
    const { documents, clock, chance, disk, endpoints, started, broken, pass } = this.#setup;
    const { config } = documents;
    const life = new Life(clock);
    this.#starts += 1;
    startSimulated({
      config,
      life,
      store: disk.open(life),
      head: disk.headOf(life),
      pools: endpoints.poolsOf(life, config.limits),
      random: () => chance.next(),
      log: (line) => this.#logged(line),
    }).then(
      (origin) => {
        this.#origin = origin;
        started(origin);
      },
      (cause: unknown) => {
        if (!(cause instanceof StoreError)) broken(`the start broke: ${String(cause)}`);
        life.end();
      },
    );
    while (this.#origin?.life !== life && !life.over) await pass(50);
  }

  #logged(line: string): void {
    const content = CONTENT.find((text) => line.includes(text));
    if (content !== undefined) this.#setup.broken(`a line of the log holds "${content}"`);
    if (line.includes('the log must not go on')) this.#setup.broken(`the log broke: ${line}`);
    if (line.includes('"a call broke"')) this.#setup.broken(`a call broke: ${line}`);
  }
}
