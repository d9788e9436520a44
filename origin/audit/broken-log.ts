/**
 * The log cannot go on: what is in the database is not what was signed. The message says why and what to do, for
 * operators; it holds nothing of a record.
 */
export class BrokenLog extends Error {
  override readonly name = 'BrokenLog';
}

const WHAT_TO_DO = (place: string): string =>
  `Stop the origin and put back the newest copy of the database, with its -wal file, beside ${place}, which stays as it is; "residency audit fsck" tells whether it is whole. If what is missing is lost for good, this log has ended: keep its files, and begin another with a new \`log_name\` and \`store\`.`;

export const shorter = (place: string, size: number, signed: number): BrokenLog =>
  new BrokenLog(
    `the log has ${size} records, and a checkpoint over ${signed} has been signed: the database is an older copy, or another one. ${WHAT_TO_DO(place)}`,
  );

export const differs = (place: string, signed: number): BrokenLog =>
  new BrokenLog(
    `the first ${signed} records of the log are not those that a checkpoint has been signed over: the database is another one, or was changed. ${WHAT_TO_DO(place)}`,
  );

export const incomplete = (place: string, why: string): BrokenLog =>
  new BrokenLog(`the tree over the log has holes (${why}). ${WHAT_TO_DO(place)}`);

export const refusedByStore = (place: string, why: string): BrokenLog =>
  new BrokenLog(`the database refuses a checkpoint (${why}). ${WHAT_TO_DO(place)}`);

export const otherLog = (place: string, found: string, own: string): BrokenLog =>
  new BrokenLog(
    `${place} and the database beside it are of the log ${found}, and \`log_name\` is ${own}. A log keeps its name: set it back, or name another file as \`store\` to begin a new log.`,
  );

export const unreadable = (place: string, why: string): BrokenLog =>
  new BrokenLog(
    `${place} does not hold the checkpoint that was signed last: ${why}. Put its newest copy back. If there is none and the database is the newest there is, "residency audit fsck" finds it whole: move ${place} away and run "touch ${place}", by which you vouch for that.`,
  );

export const missing = (place: string): BrokenLog =>
  new BrokenLog(
    `the database has checkpoints, but ${place} with the one that was signed last is gone: nothing would show whether the database is an older copy. Bring the file along from where the database was. If it is lost and the database is the newest there is, run "touch ${place}", by which you vouch for that.`,
  );
