import { decimal } from '../shared/base64.ts';
import { isRequestId } from '../shared/request-id.ts';
import { admit } from './admit/admit.ts';
import type { Call } from './admit/call.ts';
import { cosignedNote } from './audit/cosigned.ts';
import { readOnce, storedHashes } from './audit/log-hashes.ts';
import { checkpointFor, proven, provenSince, stateOf } from './audit/proven.ts';
import type { Gateway } from './gateway.ts';
import { decoded, tailOf } from './local-routes.ts';
import { refuse } from './refuse.ts';
import { send } from './reply.ts';
import { type SequencedRow, StoreError } from './store/store.ts';

/** Records of one request that are shown at most: request ids repeat, so there is no end to them. */
const RECORDS_MAX = 100;

/** How long an answer waits for a checkpoint over what it shows, in ms; without one it has no proofs. */
const COVER_MS = 2_500;

/**
 * `GET /v1/receipts/<request-id>`: the records of that request that belong to the caller's tenant, with proofs
 * under one checkpoint. With `?since=<tree size>` of an earlier answer, also that nothing was changed since. With
 * `?record=<id>`, out of a receipt, that record too where it is pruned: its place and hash can still be proven.
 */
export async function showReceipts(gateway: Gateway, call: Call): Promise<void> {
  const admitted = await admit(call, gateway.admission);
  if (!admitted.ok) return refuse(gateway, call, admitted.error);
  const requestId = decoded(tailOf(call, '/v1/receipts'));
  if (!isRequestId(requestId)) return refuse(gateway, call, { code: 'route_unknown' });
  try {
    const rows = await gateway.log.ofRequest(requestId, admitted.value.tenant.id, RECORDS_MAX + 1);
    const pruned = await prunedOf(gateway, queryOf(call, 'record'));
    const shown = await evidenceOf(gateway, [...pruned, ...rows.slice(-RECORDS_MAX)], sinceOf(call));
    send(call, 200, 'served', { request_id: requestId, ...shown, has_more: rows.length > RECORDS_MAX });
  } catch (cause) {
    if (!(cause instanceof StoreError)) throw cause;
    gateway.logger.error({ fault: cause.kind }, 'the log could not be read');
    return refuse(gateway, call, { code: 'ledger_unavailable' });
  }
}

const queryOf = ({ target }: Call, name: string): string | undefined =>
  URL.parse(target, 'http://origin')?.searchParams.get(name) ?? undefined;

/**
 * A pruned record. Nothing says any more whose it was: whoever names its id, which cannot be guessed, has its
 * receipt, and what is shown of it stands there too, but for its place.
 */
async function prunedOf({ log }: Gateway, id: string | undefined): Promise<readonly SequencedRow[]> {
  const row = id === undefined ? undefined : await log.byId(id);
  return row === undefined || row.canonical !== undefined ? [] : [row];
}

/** Undefined where it was not sent; null where it is no size of a tree. */
function sinceOf(call: Call): number | null | undefined {
  const since = queryOf(call, 'since');
  return since === undefined ? undefined : (decimal(since) ?? null);
}

async function evidenceOf(
  { config, log, publisher }: Gateway,
  rows: readonly SequencedRow[],
  since: number | null | undefined,
): Promise<object> {
  const hashes = readOnce(storedHashes(log));
  const last = rows.toSorted((one, other) => one.seq - other.seq).at(-1);
  // Of nothing there is nothing to prove, and whether there is something elsewhere must not show.
  if (last !== undefined) await publisher.cover(last.seq, COVER_MS);
  const { published } = publisher;
  const checkpoint = last && checkpointFor(published, last.seq, since ?? -1);
  return {
    log: config.logName,
    checkpoint: checkpoint === undefined ? null : cosignedNote(checkpoint),
    records: await Promise.all(
      rows.map(async (row) => ({
        state: stateOf(row.seq, published),
        ...(row.canonical === undefined && { pruned: true }),
        ...(await proven(row, checkpoint, hashes)),
      })),
    ),
    ...(since !== undefined && {
      consistency: since === null ? null : await provenSince(since, checkpoint, hashes),
    }),
  };
}
