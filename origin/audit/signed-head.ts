import { open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { NOTE_LIMITS } from '../../shared/note.ts';

/**
 * The checkpoint that was signed last, kept outside of the database: a database that is put back to an earlier
 * state takes its own checkpoints with it, and the log would be signed a second time with other records.
 */
export interface SignedHead {
  /** Where it is kept, for a person. */
  readonly place: string;
  /** The note that was written last; undefined where none was, or where it has been moved away. */
  read(): Promise<string | undefined>;
  /**
   * Puts a note in the place of the one before, whole or not at all. Once it resolves it is durable; where it
   * rejects, either of the two may be there.
   */
  write(note: string): Promise<void>;
}

/** Keeps it in a file, readable by the origin's user alone. */
export const headFile = (path: string): SignedHead => ({
  place: path,
  read: () => readBounded(path),
  write: (note) => replace(path, note),
});

async function readBounded(path: string): Promise<string | undefined> {
  const file = await open(path, 'r').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw cause;
  });
  if (file === undefined) return undefined;
  try {
    const { bytesRead, buffer } = await file.read(Buffer.alloc(NOTE_LIMITS.length), 0, NOTE_LIMITS.length, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A rename changes a file at once, but a crash could undo it until the folder is written too. */
async function replace(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  await synced(beside, 'w', async (file) => await file.writeFile(text));
  await rename(beside, path);
  await synced(dirname(path), 'r');
}

async function synced(
  path: string,
  flags: 'w' | 'r',
  write?: (file: Awaited<ReturnType<typeof open>>) => Promise<void>,
): Promise<void> {
  const file = await open(path, flags, 0o600);
  try {
    await write?.(file);
    await file.sync();
  } finally {
    await file.close();
  }
}
