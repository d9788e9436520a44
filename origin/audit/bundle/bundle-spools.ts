import { join } from 'node:path';
import { Spool } from './spool.ts';

/** The files of a bundle while it is made; the last four grow with its records. */
export interface BundleSpools {
  /** Checkpoints and policies. */
  readonly head: Spool;
  readonly records: Spool;
  readonly receipts: Spool;
  readonly proofs: Spool;
  readonly tlogProofs: Spool;
}

/** In the order in which they go into the bundle. */
export const ordered = ({ head, records, receipts, proofs, tlogProofs }: BundleSpools): readonly Spool[] => [
  head,
  records,
  receipts,
  proofs,
  tlogProofs,
];

/** @param folder an empty one of the bundle's own */
export async function openSpools(folder: string): Promise<BundleSpools> {
  const open = (name: string) => Spool.at(join(folder, name));
  return {
    head: await open('head'),
    records: await open('records'),
    receipts: await open('receipts'),
    proofs: await open('proofs'),
    tlogProofs: await open('tlog-proofs'),
  };
}
