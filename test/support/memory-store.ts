import {
  type CircuitRow,
  READ_MAX,
  type SequencedRow,
  type Store,
  type StoredRow,
  StoreError,
} from '../../origin/store/store.ts';
import { END_KINDS } from '../../shared/record.ts';

const isEnd = ({ kind }: StoredRow): boolean => END_KINDS.some((end) => end === kind);

/** A store without a disk. It passes the behaviour suite of stores; what lasts is what it is given. */
export class MemoryStore implements Store {
  readonly rows: SequencedRow[];
  readonly #circuits: Map<string, CircuitRow>;
  #closed = false;

  constructor(rows: SequencedRow[] = [], circuits: Map<string, CircuitRow> = new Map()) {
    this.rows = rows;
    this.#circuits = circuits;
  }

  async append(rows: readonly StoredRow[]): Promise<void> {
    this.#alive();
    const ids = new Set([...this.rows, ...rows].map(({ id }) => id));
    if (ids.size < this.rows.length + rows.length) throw new StoreError('rejected', 'an id is there already');
    for (const row of rows) this.rows.push({ ...row, seq: this.rows.length });
  }

  async openPendings(limit: number): Promise<readonly SequencedRow[]> {
    this.#alive();
    const ended = new Set(this.rows.filter(isEnd).map(({ pendingId }) => pendingId));
    return this.rows.filter(({ kind, id }) => kind === 'pending' && !ended.has(id)).slice(0, clamp(limit));
  }

  async ofRequest(requestId: string, tenant: string, limit: number): Promise<readonly SequencedRow[]> {
    this.#alive();
    return newest(
      this.rows.filter((row) => row.requestId === requestId && row.tenant === tenant),
      limit,
    );
  }

  async after(seq: number, limit: number): Promise<readonly SequencedRow[]> {
    this.#alive();
    return this.rows.slice(seq + 1, seq + 1 + clamp(limit));
  }

  async latest(limit: number): Promise<readonly SequencedRow[]> {
    this.#alive();
    return newest(this.rows, limit);
  }

  async byId(id: string): Promise<SequencedRow | undefined> {
    this.#alive();
    return this.rows.find((row) => row.id === id);
  }

  async circuits(after: string, limit: number): Promise<readonly CircuitRow[]> {
    this.#alive();
    const following = [...this.#circuits.values()].filter(({ endpoint }) => endpoint > after);
    return following
      .toSorted((one, other) => (one.endpoint < other.endpoint ? -1 : 1))
      .slice(0, clamp(limit));
  }

  async saveCircuits(rows: readonly CircuitRow[]): Promise<void> {
    this.#alive();
    for (const row of rows) this.#circuits.set(row.endpoint, row);
  }

  async ready(): Promise<void> {
    this.#alive();
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #alive(): void {
    if (this.#closed) throw new StoreError('closed', 'the store is closed');
  }
}

const clamp = (limit: number): number => Math.min(Math.max(limit, 0), READ_MAX);

const newest = (rows: readonly SequencedRow[], limit: number): readonly SequencedRow[] =>
  clamp(limit) === 0 ? [] : rows.slice(-clamp(limit));
