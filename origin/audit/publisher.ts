import type { Logger } from 'pino';
import type { Store } from '../store/store.ts';
import type { CheckpointRow } from '../store/tree-table.ts';
import { BrokenLog } from './broken-log.ts';
import { hourClosed, untilNextHour } from './checkpoint-times.ts';
import { CheckpointWriter, type WriterParts } from './checkpoint-writer.ts';
import type { Published } from './published.ts';
import { PUBLISHER_LIMITS } from './publisher-limits.ts';
import { Turns } from './turns.ts';

/** Publishes the log: has a checkpoint signed when one is due, on demand, and at the end. */
export interface Publisher {
  /**
   * Holds the log against what was signed last, begins a new one with a checkpoint over no record, and from then
   * on publishes by itself. Rejects with BrokenLog where the log must not go on, or as the store does.
   */
  start(): Promise<void>;
  /** Resolves to whether a published checkpoint covers this place, after `withinMs` at the latest. */
  cover(seq: number, withinMs: number): Promise<boolean>;
  /** Publishes what is durable now, also where that is nothing new. Rejects where that cannot be done just now. */
  publish(): Promise<CheckpointRow>;
  readonly published: Published;
  /** Why the log must not go on, in words for an operator; nothing may be forwarded then. */
  readonly broken: string | undefined;
  /** Publishes what has come since, and ends. To be called after the ledger's end and before the store's. */
  close(): Promise<void>;
}

export interface PublisherSetup extends WriterParts {
  readonly store: WriterParts['store'] & Pick<Store, 'checkpoints' | 'cosign'>;
  readonly published: Published;
  readonly logger: Logger;
}

export const createPublisher = (setup: PublisherSetup): Publisher => new LogPublisher(setup);

class LogPublisher implements Publisher {
  readonly published: Published;
  readonly #setup: PublisherSetup;
  readonly #writer: CheckpointWriter;
  readonly #turns: Turns<CheckpointRow>;
  #broken: BrokenLog | undefined;
  #failing = false;
  #started = false;
  #closing = false;
  #cancelLook: () => void = () => undefined;

  constructor(setup: PublisherSetup) {
    this.#setup = setup;
    this.published = setup.published;
    this.#writer = new CheckpointWriter(setup);
    this.#turns = new Turns(setup.clock, PUBLISHER_LIMITS.restMs, () => this.#turn());
  }

  get broken(): string | undefined {
    return this.#broken?.message;
  }

  async start(): Promise<void> {
    await this.published.open(await this.#writer.open());
    this.#started = true;
    // Where there is much to cover, nobody is kept waiting for it: records are on record without a checkpoint.
    if (this.published.latest === undefined && (await this.#setup.store.size()) === 0) await this.publish();
    this.#lookIn(0);
  }

  async cover(seq: number, withinMs: number): Promise<boolean> {
    if (this.published.covers(seq)) return true;
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#setup.clock.setTimeout(resolve, withinMs);
    await Promise.race([late, this.publish().catch(() => undefined)]);
    cancel();
    return this.published.covers(seq);
  }

  publish(): Promise<CheckpointRow> {
    return this.#turns.next();
  }

  async close(): Promise<void> {
    if (this.#closing) return;
    this.#closing = true;
    this.#cancelLook();
    this.#turns.hurry();
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#setup.clock.setTimeout(resolve, PUBLISHER_LIMITS.finalMs);
    if (this.#started) await Promise.race([late, this.#publishDue(true)]);
    cancel();
    await this.published.close();
  }

  async #turn(): Promise<CheckpointRow> {
    if (this.#broken !== undefined) throw this.#broken;
    const { logger } = this.#setup;
    try {
      const checkpoint = await this.#writer.write();
      if (this.#failing) logger.info('checkpoints are published again');
      this.#failing = false;
      this.published.show(checkpoint);
      return checkpoint;
    } catch (cause) {
      if (cause instanceof BrokenLog) {
        this.#broken = cause;
        logger.fatal({ fault: cause.message }, 'the log must not go on: nothing is forwarded');
      } else if (!this.#failing) {
        const fault = cause instanceof Error ? cause.message : 'unknown';
        logger.error({ fault }, 'no checkpoint could be published; it is tried again');
      }
      this.#failing = true;
      throw cause;
    }
  }

  /** Resolves to whether all is well. */
  async #publishDue(atTheEnd: boolean): Promise<boolean> {
    try {
      await this.#turns.idle();
      const due = await this.#isDue();
      if (due && this.#closing === atTheEnd) await this.publish();
      return true;
    } catch {
      return false;
    }
  }

  async #isDue(): Promise<boolean> {
    const { latest } = this.published;
    if (latest === undefined) return true;
    if (hourClosed(Date.parse(latest.at), this.#setup.clock.now()) !== undefined) return true;
    return (await this.#setup.store.size()) > latest.size;
  }

  #lookIn(ms: number): void {
    this.#cancelLook = this.#setup.clock.setTimeout(() => void this.#look(), ms);
  }

  async #look(): Promise<void> {
    const well = await this.#publishDue(false);
    this.published.askWitnesses();
    if (this.#closing || this.#broken !== undefined) return;
    this.#lookIn(
      well
        ? Math.min(PUBLISHER_LIMITS.lookMs, untilNextHour(this.#setup.clock.now()))
        : PUBLISHER_LIMITS.retryMs,
    );
  }
}
