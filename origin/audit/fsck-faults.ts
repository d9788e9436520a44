const RESTORE =
  'Keep all files as they are. Stop the origin and put back the newest copy of the database, with its -wal file, that this command finds whole; leave the .checkpoint file where it is.';

/** Every kind of fault: what it means, and what to do. */
export const FSCK_FAULTS = {
  database: { means: 'the database file is damaged, or a table or guard of it was changed', todo: RESTORE },
  unreadable: { means: 'a row cannot be read', todo: RESTORE },
  gap: { means: 'places of the log are missing', todo: RESTORE },
  changed: { means: 'a record is not the one whose hash was signed', todo: RESTORE },
  form: { means: 'a body is not a record in canonical form', todo: RESTORE },
  column: {
    means: 'a record is found by something that it does not say',
    todo: `Records of this kind are shown to the wrong tenant, or not found. ${RESTORE}`,
  },
  untold: { means: 'a body is gone, and no pruning that the log tells of covers it', todo: RESTORE },
  undone: { means: 'a record that was pruned has a body', todo: RESTORE },
  ends: {
    means: 'a call does not end exactly once',
    todo: 'Nothing can mend it, as the log is not changed. Report it with the places that are named.',
  },
  open: {
    means: 'the list of calls without an end is not what the records say',
    todo: `An end may be missing, or written twice, after the next start. ${RESTORE}`,
  },
  root: { means: 'a checkpoint was signed over other records', todo: RESTORE },
  shorter: { means: 'a checkpoint was signed over more records than there are', todo: RESTORE },
  signature: {
    means: 'a checkpoint is not one that a key of this log signed',
    todo: 'If the key was rotated, name the earlier keys with --pubkey. Else the table was changed: see above, or restore the database.',
  },
  order: { means: 'checkpoints do not follow one another', todo: RESTORE },
  tile: {
    means: 'an inner hash of the tree is not that of its leaves',
    todo: `Proofs made with it fail. ${RESTORE}`,
  },
  head: {
    means: 'the file with the checkpoint that was signed last does not fit to the database',
    todo: 'The origin says at its start what to do with it; nothing else in this list is cured by it.',
  },
  policy: {
    means: 'a policy that records cite is not kept, or is not the one of its hash',
    todo: 'Records that cite it are kept for ever, and bundles with them do not verify. Restore the database.',
  },
} as const;

export type FsckFault = keyof typeof FSCK_FAULTS;

/** What a fault is about, as far as that is known. */
export interface FaultPlace {
  /** Place in the log, 0-based. */
  readonly place?: number;
  /** Id of the record, as its row says. */
  readonly record?: string;
  /** Number of the checkpoint. */
  readonly checkpoint?: number;
}

export interface ListedFault extends FaultPlace {
  readonly fault: FsckFault;
  readonly reason: string;
}

/** Faults that are listed at most; the rest are counted. */
const LISTED = 10_000;

/** Collects faults, so that none hides another. */
export class FsckFaults {
  readonly listed: ListedFault[] = [];
  #more = 0;

  get more(): number {
    return this.#more;
  }

  add(fault: FsckFault, reason: string, about: FaultPlace = {}): void {
    if (this.listed.length === LISTED) this.#more += 1;
    else this.listed.push({ fault, ...about, reason });
  }
}
