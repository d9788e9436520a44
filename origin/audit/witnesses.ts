import type { Logger } from 'pino';
import { consistencyProof } from '../../shared/merkle/prove.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/store.ts';
import type { CheckpointRow } from '../store/tree-table.ts';
import { storedHashes } from './log-hashes.ts';
import { type Witness, type WitnessAnswer, WitnessClient } from './witness-client.ts';

export interface WitnessParts {
  readonly store: Pick<Store, 'hashes' | 'cosign'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** A cosignature is kept with the checkpoint of this number. */
  readonly cosigned: (number: number, line: string) => void;
}

/** Has checkpoints cosigned. Nobody waits for a witness, and one that is away is asked again with a later one. */
export class Witnesses {
  readonly #talks: readonly Talk[];

  constructor(witnesses: readonly Witness[], parts: WitnessParts) {
    this.#talks = witnesses.map((witness) => new Talk(witness, parts));
  }

  /** Asks for cosignatures of a checkpoint that is published, where they are not there yet. */
  ask(checkpoint: CheckpointRow): void {
    for (const talk of this.#talks) void talk.ask(checkpoint);
  }

  async close(): Promise<void> {
    await Promise.all(this.#talks.map((talk) => talk.close()));
  }
}

/** What passes between the log and one witness: one checkpoint at a time, always the newest. */
class Talk {
  readonly #name: string;
  readonly #client: WitnessClient;
  readonly #parts: WitnessParts;
  /** The size that the witness goes by, as far as is known here. */
  #size = 0;
  #cosigned = -1;
  #wanted: CheckpointRow | undefined;
  #busy = false;
  /** Why it failed the last time; said once. */
  #fault: string | undefined;

  constructor(witness: Witness, parts: WitnessParts) {
    this.#name = witness.key.name;
    this.#client = new WitnessClient(witness, parts.clock);
    this.#parts = parts;
  }

  async ask(checkpoint: CheckpointRow): Promise<void> {
    if (checkpoint.number > this.#cosigned) this.#wanted = checkpoint;
    if (this.#busy) return;
    this.#busy = true;
    for (let next = this.#take(); next !== undefined; next = this.#take()) {
      const fault = await this.#cosign(next).catch((cause: Error) => `failed here: ${cause.name}`);
      this.#say(fault);
      if (fault !== undefined) break;
      this.#cosigned = next.number;
    }
    this.#busy = false;
  }

  close(): Promise<void> {
    this.#wanted = undefined;
    return this.#client.close();
  }

  #take(): CheckpointRow | undefined {
    const next = this.#wanted;
    this.#wanted = undefined;
    return next;
  }

  /** What went wrong, in words. */
  async #cosign(checkpoint: CheckpointRow): Promise<string | undefined> {
    const old = Math.min(this.#size, checkpoint.size);
    const first = await this.#submit(checkpoint, old);
    const mends = first.kind === 'conflict' && first.size <= checkpoint.size && first.size !== old;
    const answer = mends ? await this.#submit(checkpoint, first.size) : first;
    switch (answer.kind) {
      case 'failed':
        return answer.why;
      case 'conflict':
        return conflictWords(answer.size, checkpoint.size);
      case 'cosigned':
        this.#size = checkpoint.size;
        // In the database first: what was shown as witnessed once stays so after a crash.
        await this.#parts.store.cosign(checkpoint.number, [answer.line]);
        this.#parts.cosigned(checkpoint.number, answer.line);
        return undefined;
    }
  }

  async #submit({ size, note }: CheckpointRow, old: number): Promise<WitnessAnswer> {
    const proof = await consistencyProof(old, size, storedHashes(this.#parts.store));
    return await this.#client.submit({ old, proof, note });
  }

  #say(fault: string | undefined): void {
    const { logger } = this.#parts;
    const [before, witness] = [this.#fault, this.#name];
    this.#fault = fault;
    if (fault === before) return;
    if (fault === undefined) logger.info({ witness }, 'a witness cosigns again');
    else logger.warn({ witness, fault }, 'a witness does not cosign; it is asked again');
  }
}

/** Nothing vouches for what it says, but an operator has to know. */
const conflictWords = (known: number, size: number): string =>
  known > size
    ? `says that it has cosigned this log over ${known} records, and it has ${size}: was the database put back to an older copy?`
    : `says that it has cosigned another history of this log over ${known} records`;
