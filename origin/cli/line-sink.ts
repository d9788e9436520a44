import { type FileHandle, open } from 'node:fs/promises';
import { UsageFault } from '../usage-fault.ts';

/** Where lines go to stay. */
export interface LineSink {
  /** Resolves once they are durable, or for standard output once whoever reads it has taken them. */
  write(lines: readonly string[]): Promise<void>;
  /** Whether a write has failed, after which what is there may end inside a line. */
  readonly failed: boolean;
  close(): Promise<void>;
}

const NEWLINE = 0x0a;

/** Bytes in which the end of a file is looked at: more than any line of a record has. */
const TAIL_BYTES = 256 * 1024;

/** Opens a file to add lines to, or `-`, standard output. */
export async function openSink(out: string): Promise<LineSink> {
  if (out === '-') {
    // The write itself rejects where its reader has gone.
    process.stdout.on('error', () => undefined);
    return new Sink(printed, () => Promise.resolve());
  }
  const file = await open(out, 'a+', 0o600).catch((cause: NodeJS.ErrnoException) => {
    throw new UsageFault(`${out} cannot be written (${cause.code ?? 'unknown'})`);
  });
  try {
    await cutTorn(out, file);
  } catch (cause) {
    await file.close();
    throw cause;
  }
  return new Sink(
    async (text) => {
      await file.appendFile(text);
      await file.datasync();
    },
    () => file.close(),
  );
}

class Sink implements LineSink {
  failed = false;
  readonly #take: (text: string) => Promise<void>;
  readonly #end: () => Promise<void>;

  constructor(take: (text: string) => Promise<void>, end: () => Promise<void>) {
    this.#take = take;
    this.#end = end;
  }

  async write(lines: readonly string[]): Promise<void> {
    await this.#take(lines.join('')).catch((cause: unknown) => {
      this.failed = true;
      throw cause;
    });
  }

  close(): Promise<void> {
    return this.#end();
  }
}

const printed = (text: string): Promise<void> =>
  new Promise((resolve, reject) => {
    process.stdout.write(text, (cause) => (cause ? reject(cause) : resolve()));
  });

/**
 * Takes back the beginning of a line that a crash has left at the end of a file: the cursor has not moved past it,
 * so its record comes again, whole. Anything else that is no whole line is not ours to cut.
 */
async function cutTorn(name: string, file: FileHandle): Promise<void> {
  const { size } = await file.stat();
  const tail = Buffer.alloc(Math.min(size, TAIL_BYTES));
  await file.read(tail, 0, tail.length, size - tail.length);
  const torn = tail.subarray(tail.lastIndexOf(NEWLINE) + 1);
  if (torn.length === 0) return;
  if (!torn.toString('utf8').startsWith('{"') && torn.toString('utf8') !== '{') {
    throw new UsageFault(`${name} does not end with a line of a record: name another file with --out`);
  }
  await file.truncate(size - torn.length);
}
