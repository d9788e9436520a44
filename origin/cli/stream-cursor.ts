import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { UsageFault } from '../usage-fault.ts';
import { writeWhole } from './whole-file.ts';

/** How far a stream has come, and in which log: places of another say nothing. */
const cursorSchema = z.strictObject({ log: z.string().min(1), after: z.int().nonnegative() });

export type Cursor = z.infer<typeof cursorSchema>;

/** The cursor cannot be gone on from, which no waiting mends. */
export class WrongCursor extends UsageFault {}

/** Undefined where the stream has not begun yet. */
export async function readCursor(file: string): Promise<Cursor | undefined> {
  const text = await readFile(file, 'utf8').catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return undefined;
    throw new WrongCursor(`${file} cannot be read (${cause.code ?? 'unknown'})`);
  });
  if (text === undefined) return undefined;
  const cursor = cursorSchema.safeParse(jsonOf(text));
  if (cursor.success) return cursor.data;
  throw new WrongCursor(`${file} is no cursor of a stream; without it the stream begins at the first record`);
}

/** A reader finds the cursor before or after, and never a part. */
export const writeCursor = (file: string, cursor: Cursor): Promise<void> =>
  writeWhole(file, async (stream) => {
    const written = Promise.withResolvers<void>();
    stream.once('error', written.reject).once('close', written.resolve);
    stream.end(`${JSON.stringify(cursor)}\n`);
    await written.promise;
  });

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
