import { z } from 'zod';
import type { SignedHead } from '../../origin/audit/signed-head.ts';
import type { Store, StoredRow } from '../../origin/store/store.ts';
import { PassingStore, type Write } from '../support/passing-store.ts';

/** Every write that the evidence rests on; an append is named by a record that it holds. */
export const WRITES = [
  'append pending',
  'append served',
  'append completed',
  'append abandoned',
  'publish',
  'cosign',
  'keepPolicies',
  'prune',
  'saveHold',
  'checkpoint file',
  'close',
] as const;

export const failpointSchema = z.strictObject({
  write: z.enum(WRITES),
  /**
   * `before`: the write is lost, and all is done that does not wait for it. `after`: it is kept, and nobody has
   * learnt of it.
   */
  when: z.enum(['before', 'after']),
});

export type Failpoint = z.infer<typeof failpointSchema>;

/** How long a write that will be lost is under way, in ms: whoever does not wait for it goes on meanwhile. */
const GRACE_MS = 100;

/** Ends the process at a failpoint, as a crash would: nothing is flushed, closed or said. */
export class Doom {
  #armed: Failpoint | undefined;

  arm(failpoint: Failpoint): void {
    this.#armed = failpoint;
  }

  async around(writes: readonly string[], writing: () => Promise<void>): Promise<void> {
    if (this.#isMeant(writes, 'before')) {
      await new Promise((resolve) => setTimeout(resolve, GRACE_MS));
      die();
    }
    await writing();
    if (this.#isMeant(writes, 'after')) die();
  }

  #isMeant(writes: readonly string[], when: Failpoint['when']): boolean {
    return this.#armed?.when === when && writes.includes(this.#armed.write);
  }
}

const die = () => process.kill(process.pid, 'SIGKILL');

/** A store whose process ends at the failpoints of its writes. */
export class MortalStore extends PassingStore {
  readonly #doom: Doom;

  constructor(inner: Store, doom: Doom) {
    super(inner);
    this.#doom = doom;
  }

  override append(rows: readonly StoredRow[]): Promise<void> {
    const writes = rows.map(({ kind }) => `append ${kind}`);
    return this.#doom.around(writes, () => super.append(rows));
  }

  override close(): Promise<void> {
    return this.#doom.around(['close'], () => super.close());
  }

  protected override write(name: Write, writing: () => Promise<void>): Promise<void> {
    return this.#doom.around([name], writing);
  }
}

/** The file beside the store, in the same way. */
export const mortalHead = (head: SignedHead, doom: Doom): SignedHead => ({
  place: head.place,
  read: () => head.read(),
  write: (note) => doom.around(['checkpoint file'], () => head.write(note)),
});
