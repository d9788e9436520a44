import { type Clock, timestamp } from '../clock.ts';
import { type Standing, standingSchema } from './circuit.ts';
import type { Standings } from './standings.ts';

/** How long changes are gathered before they are written, in milliseconds. */
export const GATHER_MS = 500;

/** After how long a write that failed is tried again, in milliseconds. */
export const RETRY_MS = 5_000;

/** How often, and how far apart in milliseconds, a write that carries a quarantine is tried again: for 3 s. */
export const INSIST = { times: 12, everyMs: 250 };

/** Rows that are read or written at once. */
const PAGE = 500;

/** What is kept of one endpoint. */
export interface KeptCircuit {
  readonly endpoint: string;
  /** JSON. */
  readonly state: string;
  /** When it was written, RFC 3339. */
  readonly at: string;
}

/**
 * Where circuits are kept from one start to the next. `circuits` MUST give the rows that follow an endpoint id,
 * in the order of the ids, and all of them in the end; `saveCircuits` MUST be durable once it resolves, all
 * rows or none. Both MUST settle in bounded time.
 */
export interface CircuitShelf {
  circuits(after: string, limit: number): Promise<readonly KeptCircuit[]>;
  saveCircuits(rows: readonly KeptCircuit[]): Promise<void>;
}

export interface KeeperSetup {
  readonly shelf: CircuitShelf;
  readonly standings: Standings;
  readonly clock: Clock;
  /** Told when a write fails; it is tried again. */
  failed(error: unknown): void;
}

/** Keeps the circuits: reads them at the start, writes what changes, gathered. */
export class CircuitKeeper {
  readonly #setup: KeeperSetup;
  readonly #changed = new Set<string>();
  #cancelTimer: (() => void) | undefined;
  #writing: Promise<void> = Promise.resolve();
  #unwatch: (() => void) | undefined;

  constructor(setup: KeeperSetup) {
    this.#setup = setup;
  }

  /** Takes up what was kept, and from then on keeps what changes. Rejects as the shelf does. */
  async start(): Promise<void> {
    const { shelf, standings } = this.#setup;
    for (let after = ''; ; ) {
      const rows = await shelf.circuits(after, PAGE);
      for (const { endpoint, state } of rows) standings.restore(endpoint, readStanding(state, standings));
      const last = rows.at(-1);
      if (last === undefined) break;
      after = last.endpoint;
    }
    this.#unwatch = standings.watch(({ endpoint }) => this.#note(endpoint));
  }

  /** Resolves once every change made so far is durable. Rejects as the shelf does; it is tried again later. */
  flush(): Promise<void> {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    // One write after the other, so that an older state never lands on a newer one.
    const written = this.#writing.then(() => this.#write());
    this.#writing = written.catch(() => undefined);
    return written;
  }

  /**
   * As `flush`, but a quarantine is tried for as long as anybody can be kept waiting: forgotten in a crash, it
   * would let calls out to a place that is known to be a wrong one.
   */
  async insist(): Promise<void> {
    for (let left = INSIST.times; ; left -= 1) {
      try {
        return await this.flush();
      } catch (error) {
        if (left === 0 || !this.#owesQuarantine()) throw error;
      }
      await new Promise<void>((resolve) => void this.#setup.clock.setTimeout(resolve, INSIST.everyMs));
    }
  }

  /** Writes what is left, as well as it can, and keeps nothing more. */
  async stop(): Promise<void> {
    this.#unwatch?.();
    await this.flush().catch(() => undefined);
    this.#cancelTimer?.();
  }

  #owesQuarantine(): boolean {
    const { standings } = this.#setup;
    return [...this.#changed].some((endpoint) => standings.of(endpoint).circuit.kind === 'quarantined');
  }

  #note(endpoint: string, afterMs = GATHER_MS): void {
    this.#changed.add(endpoint);
    this.#cancelTimer ??= this.#setup.clock.setTimeout(
      () => void this.flush().catch(() => undefined),
      afterMs,
    );
  }

  async #write(): Promise<void> {
    const { shelf, standings, clock, failed } = this.#setup;
    while (this.#changed.size > 0) {
      const endpoints = [...this.#changed].slice(0, PAGE);
      for (const endpoint of endpoints) this.#changed.delete(endpoint);
      const at = timestamp(clock);
      const rowOf = (endpoint: string): KeptCircuit => ({
        endpoint,
        state: JSON.stringify(standings.of(endpoint)),
        at,
      });
      try {
        await shelf.saveCircuits(endpoints.map(rowOf));
      } catch (error) {
        failed(error);
        for (const endpoint of endpoints) this.#note(endpoint, RETRY_MS);
        throw error;
      }
    }
  }
}

/** What cannot be read could have been a quarantine, so it is taken for one. */
function readStanding(state: string, { clock }: Standings): Standing {
  const read = standingSchema.safeParse(parsed(state));
  if (read.success) return read.data;
  const why = 'its kept state cannot be read';
  return { circuit: { kind: 'quarantined', generation: 0, since: clock.now(), why }, drills: [] };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
