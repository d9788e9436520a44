import type { Logger } from 'pino';
import type { Clock } from '../clock.ts';
import { READ_MAX, type Store } from '../store/store.ts';
import type { CheckpointRow } from '../store/tree-table.ts';
import { isWitnessed, type WitnessRule } from './cosigned.ts';
import type { Witness } from './witness-client.ts';
import { Witnesses } from './witnesses.ts';

export interface PublishedParts {
  readonly store: Pick<Store, 'size' | 'checkpoints' | 'hashes' | 'cosign'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly witnesses: readonly Witness[];
  readonly rule: WitnessRule;
}

/** Checkpoints whose cosignatures may still be on their way: a witness takes some seconds, and one comes a second. */
const RECENT_MAX = 64;

/** How far the log is, in records: each state includes the next. */
export interface LogStates {
  /** Have their place, which they get in the commit that makes them durable. */
  readonly sequenced: number;
  readonly published: number;
  readonly witnessed: number;
  /** When the newest checkpoint was signed: RFC 3339, milliseconds, UTC. */
  readonly publishedAt: string | undefined;
}

/** What of the log the world may see: the newest checkpoint, and the newest that enough witnesses have cosigned. */
export class Published {
  readonly #parts: PublishedParts;
  readonly #witnesses: Witnesses;
  /** By number, the oldest first. */
  readonly #recent = new Map<number, CheckpointRow>();
  #latest: CheckpointRow | undefined;
  #witnessed: CheckpointRow | undefined;

  constructor(parts: PublishedParts) {
    this.#parts = parts;
    const cosigned = (number: number, line: string) => this.#cosigned(number, line);
    this.#witnesses = new Witnesses(parts.witnesses, { ...parts, cosigned });
  }

  get latest(): CheckpointRow | undefined {
    return this.#latest;
  }

  get witnessed(): CheckpointRow | undefined {
    return this.#witnessed;
  }

  covers(seq: number): boolean {
    return seq < (this.#latest?.size ?? 0);
  }

  /** Takes up what the store holds. Checkpoints before the last READ_MAX are not searched for cosignatures. */
  async open(latest: CheckpointRow | undefined): Promise<void> {
    if (latest === undefined) return;
    const { store, rule } = this.#parts;
    const rows = await store.checkpoints(Math.max(latest.number - READ_MAX, -1), READ_MAX);
    for (const row of rows) this.#keep(row);
    this.#witnessed = rows.findLast((row) => isWitnessed(row, rule));
  }

  /** A checkpoint that is durable is published by this. */
  show(checkpoint: CheckpointRow): void {
    if (checkpoint.number === this.#latest?.number) return;
    this.#keep(checkpoint);
    this.askWitnesses();
  }

  /** Asks those again that have not cosigned the newest one. */
  askWitnesses(): void {
    if (this.#latest !== undefined) this.#witnesses.ask(this.#latest);
  }

  /** Rejects as the store does. */
  async states(): Promise<LogStates> {
    return {
      sequenced: await this.#parts.store.size(),
      published: this.#latest?.size ?? 0,
      witnessed: this.#witnessed?.size ?? 0,
      publishedAt: this.#latest?.at,
    };
  }

  close(): Promise<void> {
    return this.#witnesses.close();
  }

  #keep(checkpoint: CheckpointRow): void {
    this.#latest = checkpoint;
    this.#recent.set(checkpoint.number, checkpoint);
    this.#recent.delete(checkpoint.number - RECENT_MAX);
  }

  #cosigned(number: number, line: string): void {
    const known = this.#recent.get(number);
    if (known === undefined || known.cosignatures.includes(line)) return;
    const checkpoint = { ...known, cosignatures: [...known.cosignatures, line] };
    this.#recent.set(number, checkpoint);
    if (number === this.#latest?.number) this.#latest = checkpoint;
    if (number > (this.#witnessed?.number ?? -1) && isWitnessed(checkpoint, this.#parts.rule))
      this.#witnessed = checkpoint;
  }
}
