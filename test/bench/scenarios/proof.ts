import { join } from 'node:path';
import { storedHashes } from '../../../origin/audit/log-hashes.ts';
import type { Store } from '../../../origin/store/store.ts';
import { consistencyProof, inclusionProof, rootOf } from '../../../shared/merkle/prove.ts';
import type { TileHashes } from '../../../shared/merkle/tiles.ts';
import { verifyConsistency, verifyInclusion } from '../../../shared/merkle/verify-proof.ts';
import { publishedLog } from '../published-log.ts';
import type { ByScale, Scenario, Subject } from '../scenario.ts';
import { percentile } from '../summary.ts';

const SMALL: ByScale = { tiny: 300, quick: 10_000, full: 10_000 };
const LARGE: ByScale = { tiny: 1_000, quick: 100_000, full: 1_000_000 };

/** Proofs of each kind in a round. */
const PROOFS: ByScale = { tiny: 5, quick: 200, full: 1_000 };

interface Tree {
  readonly size: number;
  readonly root: Uint8Array;
  readonly hashes: TileHashes;
}

/** Any place from 0 up to `end`. */
const anywhere = (end: number): number => Math.floor(Math.random() * end);

/** Milliseconds to the proof of one leaf. Throws where it does not hold. */
async function inclusion({ size, root, hashes }: Tree): Promise<number> {
  const index = anywhere(size);
  const [leaf = root] = await hashes.read(0, index, 1);
  const begun = performance.now();
  const proof = await inclusionProof(index, size, hashes);
  const ms = performance.now() - begun;
  if (!verifyInclusion({ index, size, leaf, root, proof })) throw new Error(`the proof of ${index} is none`);
  return ms;
}

async function consistency({ size, root, hashes }: Tree): Promise<number> {
  const from = 1 + anywhere(size - 1);
  const fromRoot = await rootOf(from, hashes);
  const begun = performance.now();
  const proof = await consistencyProof(from, size, hashes);
  const ms = performance.now() - begun;
  const claim = { from, to: size, fromRoot, toRoot: root, proof };
  if (!verifyConsistency(claim)) throw new Error(`the proof from ${from} on is none`);
  return ms;
}

async function subjectOf(store: Store, size: number, proofs: number): Promise<Subject> {
  const hashes = storedHashes(store);
  const tree = { size, root: await rootOf(size, hashes), hashes };
  return {
    name: `log of ${size.toLocaleString('en-US')}`,
    round: async () => {
      const spans: Record<'inclusion' | 'consistency', number[]> = { inclusion: [], consistency: [] };
      for (let n = 0; n < proofs; n += 1) {
        spans.inclusion.push(await inclusion(tree));
        spans.consistency.push(await consistency(tree));
      }
      return {
        'inclusion p50': percentile(spans.inclusion, 0.5),
        'inclusion p99': percentile(spans.inclusion, 0.99),
        'consistency p50': percentile(spans.consistency, 0.5),
        'consistency p99': percentile(spans.consistency, 0.99),
      };
    },
  };
}

export const proof: Scenario = {
  name: 'proof',
  measures: 'making one proof out of a SQLite store, against the size of the log',
  figures: ['inclusion p50', 'inclusion p99', 'consistency p50', 'consistency p99'].map((name) => ({
    name,
    unit: 'ms',
  })),
  stage: async (scale, folder) => {
    const small = await publishedLog(join(folder, 'small.db'), SMALL[scale]);
    const large = await publishedLog(join(folder, 'large.db'), LARGE[scale]);
    const proofs = PROOFS[scale];
    return {
      subjects: [await subjectOf(small, SMALL[scale], proofs), await subjectOf(large, LARGE[scale], proofs)],
      close: async () => {
        await small.close();
        await large.close();
      },
    };
  },
};
