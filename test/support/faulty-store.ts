import {
  type CircuitRow,
  type SequencedRow,
  type Store,
  type StoredRow,
  StoreError,
  type StoreFault,
} from '../../origin/store/store.ts';

/** A fault in one of its two forms: the group is in the store all the same, or it is not. */
interface Fault {
  readonly kind: StoreFault;
  readonly group: 'kept' | 'lost';
}

/** A store whose appends and look-ups fail, or are held up, as a test orders. */
export class FaultyStore implements Store {
  /** Every group that was handed in, also those that failed. */
  readonly groups: (readonly StoredRow[])[] = [];
  readonly #inner: Store;
  readonly #faults: Fault[] = [];
  #lookupsToFail = 0;
  #savesToFail = 0;
  #gate: Promise<void> = Promise.resolve();
  #arrived: (() => void)[] = [];

  constructor(inner: Store) {
    this.#inner = inner;
  }

  /** The next append that has no fault yet fails like this. */
  failAppend(kind: StoreFault, group: Fault['group']): void {
    this.#faults.push({ kind, group });
  }

  /** The next so many look-ups of a row fail. */
  failLookups(count: number): void {
    this.#lookupsToFail = count;
  }

  /** The next so many times that circuits are saved fail, and keep nothing. */
  failSaves(count: number): void {
    this.#savesToFail = count;
  }

  /** Holds appends up until the function it returns is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#gate = promise;
    return resolve;
  }

  /** Resolves when the next group is handed in. */
  nextGroup(): Promise<void> {
    return new Promise((resolve) => this.#arrived.push(resolve));
  }

  async append(rows: readonly StoredRow[]): Promise<void> {
    this.groups.push(rows);
    const fault = this.#faults.shift();
    for (const arrived of this.#arrived.splice(0)) arrived();
    await this.#gate;
    if (fault?.group !== 'lost') await this.#inner.append(rows);
    if (fault !== undefined) throw new StoreError(fault.kind, 'ordered by the test');
  }

  async byId(id: string): Promise<SequencedRow | undefined> {
    if (this.#lookupsToFail > 0) {
      this.#lookupsToFail -= 1;
      throw new StoreError('failed', 'ordered by the test');
    }
    return await this.#inner.byId(id);
  }

  openPendings(limit: number): Promise<readonly SequencedRow[]> {
    return this.#inner.openPendings(limit);
  }

  ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    return this.#inner.ofRequest(requestId, tenant, limit);
  }

  after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    return this.#inner.after(seq, limit);
  }

  latest(limit: number): Promise<readonly SequencedRow[]> {
    return this.#inner.latest(limit);
  }

  circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    return this.#inner.circuits(after, limit);
  }

  async saveCircuits(rows: readonly CircuitRow[]): Promise<void> {
    if (this.#savesToFail > 0) {
      this.#savesToFail -= 1;
      throw new StoreError('full', 'ordered by the test');
    }
    await this.#inner.saveCircuits(rows);
  }

  ready(): Promise<void> {
    return this.#inner.ready();
  }

  close(): Promise<void> {
    return this.#inner.close();
  }
}
