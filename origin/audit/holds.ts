import { err, ok, type Result } from '../../shared/result.ts';
import type { Zone } from '../../shared/zones.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { HoldRow } from '../store/retention-table.ts';
import type { Store, StoredRow } from '../store/store.ts';
import { controlRow } from './control-row.ts';
import { settled } from './settled-write.ts';

export interface HoldParts {
  readonly store: Pick<Store, 'holds' | 'saveHold' | 'byId'>;
  readonly clock: Clock;
  readonly newId: () => string;
  readonly jurisdiction: Zone;
}

/** Whose records and of which time are to be kept; one of the three at least. */
export type HoldScope = Pick<HoldRow, 'tenant' | 'from' | 'to'>;

export interface Person {
  readonly by: string;
  readonly why: string;
}

export type ReleaseFault = 'unknown' | 'released';

/** Whether a hold in force forbids that a record is dropped: it goes by the record's own tenant and time. */
export const isHeldBy = (
  { releasedAt, tenant, from, to }: HoldRow,
  record: { readonly tenant: string | undefined; readonly at: string },
): boolean =>
  releasedAt === undefined &&
  (tenant === undefined || tenant === record.tenant) &&
  (from === undefined || from <= record.at) &&
  (to === undefined || record.at <= to);

/** Places a hold; once it resolves nothing under it is dropped. Rejects with StoreError. */
export async function placeHold(parts: HoldParts, scope: HoldScope, { by, why }: Person): Promise<HoldRow> {
  const hold = { ...scope, id: parts.newId(), by, why, at: timestamp(parts.clock) };
  const told = controlRow(parts, by, `hold ${hold.id} placed on ${wordsOf(hold)}: ${why}`);
  await save(parts, told, hold);
  return hold;
}

/** Releases a hold. Rejects with StoreError. */
export async function releaseHold(
  parts: HoldParts,
  id: string,
  { by, why }: Person,
): Promise<Result<HoldRow, ReleaseFault>> {
  const hold = (await parts.store.holds()).find((row) => row.id === id);
  if (hold === undefined) return err('unknown');
  if (hold.releasedAt !== undefined) return err('released');
  const released = { ...hold, releasedAt: timestamp(parts.clock), releasedBy: by };
  const told = controlRow(parts, by, `hold ${id} released, was on ${wordsOf(hold)}: ${why}`);
  await save(parts, told, released);
  return ok(released);
}

const save = ({ store }: HoldParts, told: StoredRow, hold: HoldRow): Promise<void> =>
  settled(store, told, () => store.saveHold(told, hold));

/** The tenant stands in the words alone: a record of a tenant goes into the tenant's own bundle, and this is none. */
const wordsOf = ({ tenant, from, to }: HoldScope): string =>
  [
    tenant === undefined ? 'all records' : `records of ${tenant}`,
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(to === undefined ? [] : [`to ${to}`]),
  ].join(' ');
