import { createLedger, LEDGER_LIMITS, type Ledger, type LedgerLimits } from '../../../origin/audit/ledger.ts';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';

export const unavailable = { ok: false, error: 'ledger_unavailable' };

/** A ledger on a store that fails to order, under a clock that moves to order. */
export class LedgerFixture {
  readonly clock = new ManualClock();
  /** What is durable. */
  readonly log = new MemoryStore();
  /** What the ledger writes to. */
  readonly store = new FaultyStore(this.log);
  /** What the ledger has told of itself. */
  readonly said: string[] = [];
  ledger = this.open();

  open(limits: Partial<LedgerLimits> = {}): Ledger {
    return createLedger({
      store: this.store,
      clock: this.clock,
      newId: createRecordIds(this.clock),
      limits,
      events: {
        committed: (size) => void this.said.push(`committed ${size}`),
        failing: ({ kind }) => void this.said.push(`failing: ${kind}`),
        recovered: () => void this.said.push('recovered'),
        lost: ({ id }) => void this.said.push(`lost ${id}`),
      },
    });
  }

  kinds(): string[] {
    return this.log.rows.map(({ kind }) => kind);
  }

  ids(): string[] {
    return this.log.rows.map(({ id }) => id);
  }

  /** Lets time pass in steps, and what each sets off happen. */
  async pass(ms: number): Promise<void> {
    await settled();
    for (let left = ms; left > 0; left -= LEDGER_LIMITS.retryMs) {
      this.clock.advance(Math.min(left, LEDGER_LIMITS.retryMs));
      await settled();
    }
  }
}
