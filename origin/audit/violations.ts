import type { AuditRecord } from '../../shared/record.ts';
import type { Unreleased } from '../health/unreleased.ts';
import type { LogReader, SequencedRow } from '../store/store.ts';
import { decodeRecord } from './encode.ts';

/** With these words the `control` record of a release begins; then follows what was released. */
export const RELEASED = 'circuit released';

/** Rows that are read at once. */
const PAGE = 256;

export type ViolationLog = Pick<LogReader, 'lastMismatches' | 'controlsOf'>;

type Page = (after: number) => Promise<readonly SequencedRow[]>;

/**
 * Of each endpoint that the log has evidence against the newest piece, unless a release from quarantine follows
 * it there. Rejects as the store does.
 */
export async function unreleasedViolations(log: ViolationLog): Promise<readonly Unreleased[]> {
  const found: Unreleased[] = [];
  for await (const row of rows((after) => log.lastMismatches(after, PAGE))) {
    const { endpoint, at, serving_region: region, region_source: source } = decodeRecord(row);
    if (endpoint === undefined || (await isReleased(log, endpoint, row.seq))) continue;
    const evidence = region !== undefined && source !== undefined ? { region, source } : undefined;
    found.push({ endpoint, at: Date.parse(at), ...(evidence && { evidence }) });
  }
  return found;
}

/** Reads up to the release: what was ordered in a quarantine is little, and what came after it can be much. */
async function isReleased(log: ViolationLog, endpoint: string, seq: number): Promise<boolean> {
  for await (const row of rows((after) => log.controlsOf(endpoint, after, PAGE), seq)) {
    if (endsQuarantine(decodeRecord(row))) return true;
  }
  return false;
}

const endsQuarantine = ({ selection_reason = '' }: AuditRecord): boolean =>
  selection_reason.startsWith(`${RELEASED}, was quarantined:`);

/** All rows that come in pages, from after the place `seq` on. */
async function* rows(page: Page, seq = -1): AsyncGenerator<SequencedRow> {
  for (let after = seq; ; ) {
    const read = await page(after);
    yield* read;
    const last = read.at(-1);
    if (last === undefined) return;
    after = last.seq;
  }
}
