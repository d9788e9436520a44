import { type Clock, timestamp } from '../clock.ts';
import type { SequencedRow, Store } from '../store/store.ts';
import { decodeRecord, encodeRecord } from './encode.ts';
import { endingOf } from './ending.ts';

/** How many open calls are ended in one commit. */
const PAGE = 256;

export interface Recovery {
  readonly store: Pick<Store, 'openPendings' | 'append'>;
  readonly clock: Clock;
  readonly newId: () => string;
}

/**
 * Ends every `pending` that a crash left open, `served` or not, with an `abandoned`; resolves to how many. To be
 * run before the first call is taken, as a call under way is open too. Rejects with StoreError.
 *
 * The ends of a page are durable together, and ended calls are not open any more: so a crash in here leaves
 * each call either open, for the next start, or ended once.
 */
export async function abandonOpenPendings({ store, clock, newId }: Recovery): Promise<number> {
  let ended = 0;
  let last = -1;
  for (;;) {
    const page = await store.openPendings(PAGE);
    const [first] = page;
    if (first === undefined) return ended;
    if (first.seq <= last) throw new Error('a call that was ended is still open: the log is not consistent');
    last = page.at(-1)?.seq ?? last;
    await store.append(page.map((row) => abandoned(row, clock, newId)));
    ended += page.length;
  }
}

const abandoned = (row: SequencedRow, clock: Clock, newId: () => string) =>
  encodeRecord(endingOf(decodeRecord(row), { kind: 'abandoned', id: newId(), at: timestamp(clock) }));
