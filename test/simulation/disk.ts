import type { CircuitRow, SequencedRow, Store, StoredRow } from '../../origin/store/store.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import type { Chance } from './chance.ts';
import { type Life, never } from './life.ts';
import type { Stillness } from './stillness.ts';

/** How often a write meets what can befall it; `crashNow` is for writes behind which much is at stake. */
const ODDS = { crashBefore: 0.002, crashAfter: 0.002, crashNow: 0.2, fault: 0.012, slow: 0.12, stuck: 0.004 };

const FAULTS = [
  ['busy', 'lost'],
  ['full', 'lost'],
  ['failed', 'kept'],
  ['failed', 'lost'],
] as const;

interface Write {
  work(): Promise<void>;
  /** Has the store fail at it. */
  orderFault(): void;
  readonly crashAfter?: number;
}

/** What outlives every process: the rows of the log and of the circuits. */
export class Disk {
  readonly rows: SequencedRow[] = [];
  readonly circuits = new Map<string, CircuitRow>();
  readonly #chance: Chance;
  readonly #stillness: Stillness;
  /** Nothing goes wrong any more. */
  sound = false;

  constructor(chance: Chance, stillness: Stillness) {
    this.#chance = chance;
    this.#stillness = stillness;
  }

  /** The disk as one process has it. */
  open(life: Life): Store {
    return new ProcessStore(this, life);
  }

  /** What a write comes to: it can be slow or fail, and the process can end before it and after it. */
  async write(life: Life, { work, orderFault, crashAfter = ODDS.crashAfter }: Write): Promise<void> {
    this.#stillness.moved();
    const slow = this.#slowMs();
    if (slow > 0) await new Promise<void>((resolve) => life.clock.setTimeout(resolve, slow));
    if (this.#hits(ODDS.crashBefore)) life.end();
    if (life.over) return never();
    if (this.#hits(ODDS.fault)) orderFault();
    const done = work().finally(() => this.#stillness.moved());
    if (this.#hits(crashAfter)) {
      await done.catch(() => undefined);
      life.end();
    }
    return life.over ? never() : done;
  }

  /** One of the faults of an append, in one of its two forms; sometimes nobody can tell for a while which. */
  orderFault(store: FaultyStore): void {
    const [kind, group] = this.#chance.pick(FAULTS);
    store.failAppend(kind, group);
    if (this.#chance.hit(0.3)) store.failLookups(this.#chance.int(1, 3));
  }

  #slowMs(): number {
    if (this.#hits(ODDS.stuck)) return this.#chance.int(2_900, 4_500);
    return this.#hits(ODDS.slow) ? this.#chance.int(1, 300) : 0;
  }

  #hits(odds: number): boolean {
    return this.#chance.hit(odds) && !this.sound;
  }
}

class ProcessStore implements Store {
  readonly #disk: Disk;
  readonly #life: Life;
  readonly #store: FaultyStore;

  constructor(disk: Disk, life: Life) {
    this.#disk = disk;
    this.#life = life;
    this.#store = new FaultyStore(new MemoryStore(disk.rows, disk.circuits));
  }

  append(rows: readonly StoredRow[]): Promise<void> {
    const store = this.#store;
    return this.#disk.write(this.#life, {
      work: () => store.append(rows),
      orderFault: () => this.#disk.orderFault(store),
      ...(rows.some(({ kind }) => kind === 'violation') && { crashAfter: ODDS.crashNow }),
    });
  }

  saveCircuits(rows: readonly CircuitRow[]): Promise<void> {
    const store = this.#store;
    return this.#disk.write(this.#life, {
      work: () => store.saveCircuits(rows),
      orderFault: () => store.failSaves(1),
    });
  }

  byId(id: string): Promise<SequencedRow | undefined> {
    return this.#read(this.#store.byId(id));
  }

  openPendings(limit: number): Promise<readonly SequencedRow[]> {
    return this.#read(this.#store.openPendings(limit));
  }

  ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    return this.#read(this.#store.ofRequest(requestId, tenant, limit));
  }

  after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.#read(this.#store.after(seq, limit));
  }

  latest(limit: number): Promise<readonly SequencedRow[]> {
    return this.#read(this.#store.latest(limit));
  }

  circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    return this.#read(this.#store.circuits(after, limit));
  }

  ready(): Promise<void> {
    return this.#read(this.#store.ready());
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  async #read<T>(reading: Promise<T>): Promise<T> {
    const settled = await reading;
    return this.#life.over ? never() : settled;
  }
}
