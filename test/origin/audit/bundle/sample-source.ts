import { hash } from 'node:crypto';
import type { LogCheckpoint, LogSource } from '../../../../origin/audit/bundle/log-source.ts';
import { carriesReceipt } from '../../../../origin/audit/receipts.ts';
import { rootOver } from '../../../../shared/merkle/frontier.ts';
import { TILE_WIDTH, type TileHashes } from '../../../../shared/merkle/tiles.ts';
import { BEGIN, iso, LOG, type SampleLog } from '../../../shared/verify/sample-log.ts';

/** A checkpoint of a sample log: how many records, and how many seconds after the log's begin. */
export interface Signed {
  readonly size: number;
  readonly at: number;
  /** Whether it closes an hour. */
  readonly hour?: boolean;
  /** Lines of witnesses below the log's own. */
  readonly cosigned?: string;
}

export interface SampleSource extends LogSource {
  /** Ranges of records that were asked for. */
  readonly reads: readonly (readonly [number, number])[];
}

/** A log as an exporter sees it. */
export function sampleSource(
  log: SampleLog,
  signed: readonly Signed[],
  options: { readonly pruned?: readonly number[]; readonly quorum?: number } = {},
): SampleSource {
  const leaves = log.leaves();
  const made: LogCheckpoint[] = signed.map(({ size, at, hour = false, cosigned = '' }, number) => ({
    ...{ number, size, at: iso(BEGIN + at * 1_000), hour: hour ? iso(BEGIN + at * 1_000) : null },
    note: log.checkpoint(size, BEGIN + at * 1_000) + cosigned,
  }));
  const reads: (readonly [number, number])[] = [];
  const placesAfter = (after: number, limit: number) =>
    log.records.map((_, place) => place).slice(after + 1, after + 1 + limit);
  return {
    ...{ log: LOG, jurisdiction: 'eu', witnessQuorum: options.quorum ?? 0, hashes: tilesOf(leaves), reads },
    longestCallMs: 5_000,
    checkpointBefore: async (at) => made.findLast((checkpoint) => checkpoint.at <= at),
    checkpoints: async (after) => made.slice(after + 1, after + 3),
    checkpointNow: async () => {
      const at = Math.max(log.size, Date.parse(made.at(-1)?.at ?? iso(BEGIN)) / 1_000 - BEGIN / 1_000);
      const newest = made.at(-1);
      if (newest?.size === log.size && newest.at === iso(BEGIN + at * 1_000)) return newest;
      const note = log.checkpoint(log.size, BEGIN + at * 1_000);
      made.push({ number: made.length, size: log.size, at: iso(BEGIN + at * 1_000), hour: null, note });
      return made.at(-1) ?? Promise.reject(new Error('none'));
    },
    entries: async (after, limit) => {
      reads.push([after + 1, limit]);
      return placesAfter(after, limit).map((seq) => ({
        ...{ seq, leaf: leaves[seq] ?? Buffer.alloc(0) },
        record: options.pruned?.includes(seq) ? null : (log.records[seq] ?? null),
      }));
    },
    receipts: async (after, limit) => {
      const kept = placesAfter(after, limit).filter((seq) => !options.pruned?.includes(seq));
      const lines = kept.map(async (seq) => {
        const record = log.records[seq];
        if (record === undefined || !carriesReceipt(record)) return [];
        const receipt = await log.receipt(seq);
        return [{ request_id: record.request_id ?? '', record: record.id, receipt }];
      });
      return (await Promise.all(lines)).flat();
    },
    policies: async () => [
      { sha256: hash('sha256', log.policy), name: 'eu-support', version: '1.0.0', at: iso(BEGIN) },
      { sha256: 'f'.repeat(64), name: 'other', version: '1.0.0', at: iso(BEGIN + 1e9) },
    ],
    policyStream: async (sha256) =>
      sha256 === 'f'.repeat(64) ? Buffer.from('other') : Buffer.from(log.policy),
    declaredRegions: async () => [{ region: 'own-cellar', country: 'DE' }],
    rest: async () => undefined,
  };
}

/** The tiles of a tree, made without any of what is tested. */
export const tilesOf = (leaves: readonly Uint8Array[]): TileHashes => ({
  read: async (level, first, count) => {
    let hashes = leaves;
    for (let below = 0; below < level; below += 1) {
      const tiles = Math.floor(hashes.length / TILE_WIDTH);
      const under = hashes;
      hashes = Array.from({ length: tiles }, (_, tile) =>
        rootOver(under.slice(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH)),
      );
    }
    return hashes.slice(first, first + count);
  },
});
