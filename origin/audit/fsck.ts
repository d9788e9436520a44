import type { LogInspector } from '../store/log-inspector.ts';
import { StoreError } from '../store/store.ts';
import { FsckFaults, type ListedFault } from './fsck-faults.ts';
import { HeadCheck } from './fsck-head.ts';
import { FsckWalk, type WalkParts } from './fsck-walk.ts';
import type { SignedHead } from './signed-head.ts';

export interface FsckParts extends WalkParts {
  readonly head: Pick<SignedHead, 'place' | 'read'>;
}

export interface FsckReport {
  readonly ok: boolean;
  readonly log: string;
  /** Records that were read, and how many of them are pruned. */
  readonly records: number;
  readonly pruned: number;
  readonly checkpoints: number;
  /** Calls without an end: under way, or left by a crash for the next start to end. */
  readonly open_calls: number;
  readonly faults: readonly ListedFault[];
  /** Faults beyond those that are listed. */
  readonly more_faults: number;
}

/**
 * Builds the log anew from its records and holds everything that is kept beside them against that: hashes, every
 * checkpoint ever signed, what records are found by, prunings, open calls, policies. It writes nothing, holds
 * little at once, and works beside a running origin: what comes after its begin is not looked at. Rejects with
 * StoreError where the database cannot be read at all.
 */
export async function fsck(parts: FsckParts): Promise<FsckReport> {
  const { log } = parts;
  const faults = new FsckFaults();
  for (const finding of await damageOf(log)) faults.add('database', finding);
  const latest = await log.latestCheckpoint();
  const head = await HeadCheck.read(parts.head, latest, parts.keys, faults);
  const check = new FsckWalk(parts, faults, head, latest?.size ?? 0);
  const size = await log.size();
  await check.records(size);
  await check.end(size);
  return {
    ...check.counts,
    ok: faults.listed.length === 0,
    log: parts.logName,
    faults: faults.listed,
    more_faults: faults.more,
  };
}

/** A database can be too damaged to say how much it is, and still be read in part. */
async function damageOf(log: LogInspector): Promise<readonly string[]> {
  try {
    return await log.damage();
  } catch (cause) {
    if (!(cause instanceof StoreError) || cause.kind !== 'failed') throw cause;
    return [cause.message];
  }
}
