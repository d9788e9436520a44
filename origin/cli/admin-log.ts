import { z } from 'zod';
import { HASH_BYTES } from '../../shared/merkle/hash.ts';
import { TILE_WIDTH, type TileHashes, tilePath } from '../../shared/merkle/tiles.ts';
import type { LogPolicy, LogSource } from '../audit/bundle/log-source.ts';
import {
  checkpointPageSchema,
  logStateSchema,
  newCheckpointSchema,
  pendingListSchema,
} from '../control/log-view.ts';
import { policyPageSchema, receiptPageSchema, recordPageSchema } from '../control/record-view.ts';
import type { OriginAddress } from '../control/stack-file.ts';
import { askAdmin, bytesFromAdmin } from './admin-client.ts';

/** How long to wait before something is asked for again, in ms. */
const REST_MS = 1_000;

/** Entries of a list that are asked for at once. */
const PAGE = 1_000;

/** What a person declares of endpoints in no known cloud. */
const placesSchema = z.object({
  endpoints: z.array(z.object({ region: z.string().nullable(), country: z.string().nullable() })),
});

/** The log of an origin, through its admin address. */
export interface AdminLog extends LogSource {
  /** Its public key as the origin names it, C2SP signed-note. */
  readonly vkey: string;
}

/** Opens the log of an origin. Each call of it rejects, in words for a person, where the origin does not answer. */
export async function adminLog(origin: OriginAddress): Promise<AdminLog> {
  const { log, jurisdiction, vkey, witness_quorum } = await askAdmin(origin, '/admin/log', logStateSchema);
  const { deadline_ms } = await askAdmin(origin, '/admin/pending', pendingListSchema);
  const checkpoints = async (query: string) =>
    (await askAdmin(origin, `/admin/checkpoints?${query}`, checkpointPageSchema)).checkpoints;
  return {
    ...{ log, jurisdiction, vkey, witnessQuorum: witness_quorum },
    ...{ longestCallMs: deadline_ms, hashes: tilesOf(origin) },
    checkpointBefore: async (at) => {
      const [found] = await checkpoints(`limit=1&from=${encodeURIComponent(at)}`);
      // Where there is none before, the list begins with the first of the log.
      return found !== undefined && found.at <= at ? found : undefined;
    },
    checkpoints: (after) => checkpoints(`limit=${PAGE}&after=${after}`),
    checkpointNow: async () =>
      (await askAdmin(origin, '/admin/checkpoints', newCheckpointSchema, {})).checkpoint,
    entries: async (after, limit) =>
      (await askAdmin(origin, `/admin/records?after=${after}&limit=${limit}`, recordPageSchema)).records,
    receipts: async (after, limit) =>
      (await askAdmin(origin, `/admin/receipts?after=${after}&limit=${limit}`, receiptPageSchema)).receipts,
    policies: () => policiesOf(origin),
    policyStream: (sha256) => bytesFromAdmin(origin, `/admin/policies/${sha256}`),
    declaredRegions: async () => {
      const { endpoints } = await askAdmin(origin, '/admin/endpoints', placesSchema);
      return endpoints.flatMap(({ region, country }) =>
        region === null || country === null ? [] : [{ region, country }],
      );
    },
    rest: () => new Promise((resolve) => setTimeout(resolve, REST_MS)),
  };
}

async function policiesOf(origin: OriginAddress): Promise<readonly LogPolicy[]> {
  const all: LogPolicy[] = [];
  for (;;) {
    const query = `limit=${PAGE}&after=${all.at(-1)?.sha256 ?? ''}`;
    const { policies } = await askAdmin(origin, `/admin/policies?${query}`, policyPageSchema);
    if (policies.length === 0) return all;
    all.push(...policies);
  }
}

/** The tiles that an origin publishes, C2SP tlog-tiles. Reads keep to one tile, as those of proofs do. */
const tilesOf = (origin: OriginAddress): TileHashes => ({
  read: async (level, first, count) => {
    const path = `/log/${tilePath(level, Math.floor(first / TILE_WIDTH), (first % TILE_WIDTH) + count)}`;
    const bytes = await bytesFromAdmin(origin, path);
    if (bytes === undefined) throw new Error(`${origin.admin} does not publish ${path}`);
    const hashes = Array.from({ length: Math.floor(bytes.length / HASH_BYTES) }, (_, index) =>
      bytes.subarray(index * HASH_BYTES, (index + 1) * HASH_BYTES),
    );
    return hashes.slice(first % TILE_WIDTH);
  },
});
