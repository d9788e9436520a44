import { randomUUID } from 'node:crypto';
import { createWriteStream, existsSync } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Writable } from 'node:stream';
import { UsageFault } from '../usage-fault.ts';

/** Refuses a file that is there: evidence is never overwritten. */
export function assertNew(file: string): void {
  if (existsSync(file)) throw new UsageFault(`${file} exists already; name another with --out`);
}

/** Writes a file that appears whole and durable, or not at all. `fill` MUST have ended the stream. */
export async function writeWhole<T>(file: string, fill: (stream: Writable) => Promise<T>): Promise<T> {
  const beside = `${file}.${randomUUID()}.part`;
  try {
    const filled = await fill(createWriteStream(beside, { flags: 'wx', mode: 0o600, flush: true }));
    await rename(beside, file);
    await syncFolder(dirname(file));
    return filled;
  } finally {
    await rm(beside, { force: true });
  }
}

/** So that a new name in a folder outlives the machine. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  await handle.sync().finally(() => handle.close());
}
