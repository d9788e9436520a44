import { type AuditRecord, RECORD_VERSION } from '../../shared/record.ts';
import type { Zone } from '../../shared/zones.ts';
import { type Clock, timestamp } from '../clock.ts';
import type { StoredRow } from '../store/store.ts';
import { encodeRecord } from './encode.ts';

/** The `control` record of a change that the store keeps in the same transaction. @param words 512 characters at most */
export const controlRow = (
  {
    clock,
    newId,
    jurisdiction,
  }: { readonly clock: Clock; readonly newId: () => string; readonly jurisdiction: Zone },
  actor: string,
  words: string,
  facts: Partial<AuditRecord> = {},
): StoredRow =>
  encodeRecord({
    v: RECORD_VERSION,
    kind: 'control',
    id: newId(),
    at: timestamp(clock),
    jurisdiction,
    actor,
    selection_reason: words,
    ...facts,
  });
