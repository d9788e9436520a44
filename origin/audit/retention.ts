import type { Logger } from 'pino';
import { err, ok, type Result } from '../../shared/result.ts';
import type { HoldRow } from '../store/retention-table.ts';
import { type HoldScope, type Person, placeHold, type ReleaseFault, releaseHold } from './holds.ts';
import { type PruneOrder, PruneRun, type RunParts } from './retention-run.ts';

export interface RetentionSetup extends RunParts {
  readonly logger: Logger;
  /** Whether the log must not go on: then nothing in it is dropped. */
  readonly isShut: () => boolean;
}

/** How long records are kept, and what is kept longer by order. */
export class Retention {
  readonly #setup: RetentionSetup;
  #run: PruneRun | undefined;
  #running: Promise<void> = Promise.resolve();

  constructor(setup: RetentionSetup) {
    this.#setup = setup;
  }

  /** The run that goes on, or the last one since the start. */
  get run(): PruneRun | undefined {
    return this.#run;
  }

  /** Begins to drop what is over, one run at a time. What a run that broke off has dropped stays dropped. */
  prune(order: PruneOrder): Result<PruneRun, 'running' | 'shut'> {
    if (this.#setup.isShut()) return err('shut');
    if (this.#run?.state === 'running') return err('running');
    const run = new PruneRun(this.#setup, order);
    this.#run = run;
    this.#running = this.#watched(run);
    return ok(run);
  }

  /** Every hold ever placed. All of these reject with StoreError. */
  holds(): Promise<readonly HoldRow[]> {
    return this.#setup.store.holds();
  }

  place(scope: HoldScope, person: Person): Promise<HoldRow> {
    return placeHold(this.#setup, scope, person);
  }

  release(id: string, person: Person): Promise<Result<HoldRow, ReleaseFault>> {
    return releaseHold(this.#setup, id, person);
  }

  /** Ends the run after the slice under way. To be called before the store is closed. */
  async close(): Promise<void> {
    this.#run?.stop();
    await this.#running;
  }

  async #watched(run: PruneRun): Promise<void> {
    await run.run();
    const { logger } = this.#setup;
    const records = [...run.tally.rules.values()].reduce((sum, line) => sum + line.records, 0);
    const facts = { run: run.id, dry_run: run.order.dryRun, records };
    if (run.state === 'failed') logger.error({ ...facts, fault: run.fault }, 'pruning broke off');
    else logger.info(facts, 'pruning ended');
  }
}
