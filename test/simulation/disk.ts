import type { SignedHead } from '../../origin/audit/signed-head.ts';
import { type SequencedRow, type Store, type StoredRow, StoreError } from '../../origin/store/store.ts';
import { FaultyStore } from '../support/faulty-store.ts';
import { MemoryStore } from '../support/memory-store.ts';
import { memoryTables } from '../support/memory-tables.ts';
import { PassingStore, type Write } from '../support/passing-store.ts';
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

interface Attempt {
  work(): Promise<void>;
  /** Has the store fail at it. */
  orderFault(): void;
  readonly crashAfter?: number;
}

/** What outlives every process. */
export class Disk {
  readonly tables = memoryTables();
  /** Every checkpoint whose file was written, or may have been, in the order of signing. */
  readonly signed: string[] = [];
  #head: string | undefined;
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

  /** The file with the checkpoint that was signed last, as one process has it. */
  headOf(life: Life): SignedHead {
    let fault: 'kept' | 'lost' | undefined;
    const work = async (note: string): Promise<void> => {
      const ordered = fault;
      fault = undefined;
      if (ordered !== 'lost') this.#head = note;
      if (ordered !== undefined) throw new StoreError('failed', 'ordered by the simulation');
    };
    return {
      place: 'the file of the simulation',
      read: async () => (life.over ? never() : this.#head),
      write: (note) => {
        this.signed.push(note);
        const orderFault = () => {
          fault = this.#chance.hit(0.5) ? 'kept' : 'lost';
        };
        return this.write(life, { work: () => work(note), orderFault });
      },
    };
  }

  /** What a write comes to: it can be slow or fail, and the process can end before it and after it. */
  async write(life: Life, { work, orderFault, crashAfter = ODDS.crashAfter }: Attempt): Promise<void> {
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

  /** The rows of the log. */
  get rows(): readonly SequencedRow[] {
    return this.tables.rows;
  }

  /** One of the faults of a write, in one of its two forms; sometimes nobody can tell for a while which. */
  orderFault(store: FaultyStore, name: Write): void {
    const [kind, group] = this.#chance.pick(FAULTS);
    store.fail(name, kind, group);
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

class ProcessStore extends PassingStore {
  readonly #disk: Disk;
  readonly #life: Life;
  readonly #store: FaultyStore;
  /** Behind the next write much is at stake. */
  #grave = false;

  constructor(disk: Disk, life: Life) {
    const store = new FaultyStore(new MemoryStore(disk.tables));
    super(store);
    this.#disk = disk;
    this.#life = life;
    this.#store = store;
  }

  override append(rows: readonly StoredRow[]): Promise<void> {
    this.#grave = rows.some(({ kind }) => kind === 'violation');
    return super.append(rows);
  }

  override ready(): Promise<void> {
    return this.read(() => super.ready());
  }

  protected override write(name: Write, writing: () => Promise<void>): Promise<void> {
    const grave = this.#grave;
    this.#grave = false;
    return this.#disk.write(this.#life, {
      work: writing,
      orderFault: () => this.#disk.orderFault(this.#store, name),
      ...(grave && { crashAfter: ODDS.crashNow }),
    });
  }

  protected override async read<T>(reading: () => Promise<T>): Promise<T> {
    const settled = await reading();
    return this.#life.over ? never() : settled;
  }
}
