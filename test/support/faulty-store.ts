import { type SequencedRow, type StoredRow, StoreError, type StoreFault } from '../../origin/store/store.ts';
import { PassingStore, type Write } from './passing-store.ts';

/** A fault in one of its two forms: what was written is in the store all the same, or it is not. */
interface Fault {
  readonly kind: StoreFault;
  readonly group: 'kept' | 'lost';
}

/** A store whose writes and look-ups fail, or are held up, as a test orders. */
export class FaultyStore extends PassingStore {
  /** Every group that was handed in, also those that failed. */
  readonly groups: (readonly StoredRow[])[] = [];
  readonly #faults = new Map<Write, Fault[]>();
  readonly #gates = new Map<Write, Promise<void>>();
  #lookupsToFail = 0;
  #savesToFail = 0;
  #arrived: (() => void)[] = [];

  /** The next write of this name that has no fault yet fails like this. */
  fail(name: Write, kind: StoreFault, group: Fault['group']): void {
    this.#faults.set(name, [...(this.#faults.get(name) ?? []), { kind, group }]);
  }

  /** The next append that has no fault yet fails like this. */
  failAppend(kind: StoreFault, group: Fault['group']): void {
    this.fail('append', kind, group);
  }

  /** The next so many look-ups of a row fail. */
  failLookups(count: number): void {
    this.#lookupsToFail = count;
  }

  /** The next so many times that circuits are saved fail, and keep nothing. */
  failSaves(count: number): void {
    this.#savesToFail = count;
  }

  /** Holds appends, or other writes, up until the function it returns is called. */
  hold(name: Write = 'append'): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gates.set(name, promise);
    return resolve;
  }

  /** Resolves when the next group is handed in. */
  nextGroup(): Promise<void> {
    return new Promise((resolve) => this.#arrived.push(resolve));
  }

  override append(rows: readonly StoredRow[]): Promise<void> {
    this.groups.push(rows);
    return super.append(rows);
  }

  override byId(id: string): Promise<SequencedRow | undefined> {
    if (this.#lookupsToFail === 0) return super.byId(id);
    this.#lookupsToFail -= 1;
    return Promise.reject(new StoreError('failed', 'ordered by the test'));
  }

  protected override async write(name: Write, writing: () => Promise<void>): Promise<void> {
    const fault = this.#faultOf(name);
    if (name === 'append') for (const arrived of this.#arrived.splice(0)) arrived();
    await this.#gates.get(name);
    if (fault?.group !== 'lost') await writing();
    if (fault !== undefined) throw new StoreError(fault.kind, 'ordered by the test');
  }

  #faultOf(name: Write): Fault | undefined {
    if (name === 'saveCircuits' && this.#savesToFail > 0) {
      this.#savesToFail -= 1;
      return { kind: 'full', group: 'lost' };
    }
    return this.#faults.get(name)?.shift();
  }
}
