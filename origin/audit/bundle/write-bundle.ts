import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { openSpools, ordered } from './bundle-spools.ts';
import { type BundleOptions, type Collected, collect } from './collect.ts';
import type { LogSource } from './log-source.ts';
import { pack } from './pack.ts';
import type { Window } from './window.ts';

export interface BundleTarget {
  /** Ended when the bundle is whole. */
  readonly destination: Writable;
  /** Where the files lie meanwhile: as much room as the bundle takes unpacked. */
  readonly folder: string;
}

/** Writes the bundle of a window. Rejects as the source, the disk and the destination do. */
export async function writeBundle(
  source: LogSource,
  window: Window,
  { destination, folder }: BundleTarget,
  options: BundleOptions,
): Promise<Collected> {
  const own = await mkdtemp(join(folder, 'residency-bundle-'));
  const spools = await openSpools(own);
  try {
    const collected = await collect(source, window, spools, options);
    await pack(collected.manifest, ordered(spools), destination);
    return collected;
  } finally {
    await Promise.all(ordered(spools).map((spool) => spool.close()));
    await rm(own, { recursive: true, force: true });
  }
}
