import { beforeEach, describe, expect, it } from 'vitest';
import { decodeRecord } from '../../../origin/audit/encode.ts';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { abandonOpenPendings } from '../../../origin/audit/recovery.ts';
import type { Store } from '../../../origin/store/store.ts';
import { TempLog } from '../../store/temp-log.ts';
import { aRow } from '../../support/audit-records.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const CALL = {
  request_id: 'req-7',
  attempt: 2,
  tenant: 'acme',
  team: 'core',
  key_id: 'k1',
  jurisdiction_claimed: 'eu',
  jurisdiction: 'eu',
  route: '/v1/chat/completions',
  workload: 'support',
  policy: 'eu-gdpr-strict',
  policy_version: '4.2.0',
  policy_sha256: 'a'.repeat(64),
  endpoint: 'fra-bedrock',
  provider: 'bedrock',
  provider_region: 'eu-central-1',
  model: 'vendor.model-1',
} as const;

describe('recovery at start', () => {
  const clock = new ManualClock(Date.UTC(2026, 4, 1));
  const newId = createRecordIds(clock);
  const recover = (store: Store) => abandonOpenPendings({ store, clock, newId });
  let log: MemoryStore;

  beforeEach(() => {
    log = new MemoryStore();
  });

  const endsOf = (id: string): string[] =>
    log.rows.filter(({ pendingId }) => pendingId === id).map(({ kind }) => kind);

  it('ends an open call with a record that says which call it was', async () => {
    const pending = aRow('pending', { ...CALL, candidates: [], selection_reason: 'primary' });
    await log.append([pending]);
    expect(await recover(log)).toBe(1);
    const [, end] = log.rows.map(decodeRecord);
    expect(end).toEqual({
      ...CALL,
      v: 1,
      kind: 'abandoned',
      id: end?.id,
      at: '2026-05-01T00:00:00.000Z',
      pending_id: pending.id,
    });
  });

  it('ends a call that was served and never completed, and leaves ended ones alone', async () => {
    const [served, completed, failed] = [aRow('pending'), aRow('pending'), aRow('pending')];
    await log.append([served, completed, failed, aRow('refused')]);
    await log.append([
      aRow('served', { pending_id: served.id }),
      aRow('served', { pending_id: completed.id }),
      aRow('completed', { pending_id: completed.id }),
      aRow('failed', { pending_id: failed.id }),
    ]);
    expect(await recover(log)).toBe(1);
    expect(endsOf(served.id)).toEqual(['served', 'abandoned']);
    expect(endsOf(completed.id)).toEqual(['served', 'completed']);
    expect(endsOf(failed.id)).toEqual(['failed']);
  });

  it('writes nothing at the next start', async () => {
    await log.append([aRow('pending')]);
    await recover(log);
    expect(await recover(log)).toBe(0);
    expect(log.rows).toHaveLength(2);
  });

  it.each(['kept', 'lost'] as const)(
    'ends each call once when it is cut off in the middle and its page was %s',
    async (group) => {
      const pendings = Array.from({ length: 600 }, () => aRow('pending'));
      await log.append(pendings);
      const store = new FaultyStore(log);
      const hold = store.hold();
      const cutOff = recover(store);
      await store.nextGroup();
      store.failAppend('failed', group);
      hold();
      await expect(cutOff).rejects.toMatchObject({ kind: 'failed' });
      expect(log.rows.length).toBe(600 + (group === 'kept' ? 512 : 256));
      await recover(log);
      for (const { id } of pendings) expect(endsOf(id)).toEqual(['abandoned']);
    },
  );

  it('ends thousands of calls, page by page', async () => {
    await using temp = await TempLog.make();
    const store = await temp.open();
    for (let page = 0; page < 4; page += 1) {
      await store.append(Array.from({ length: 500 }, () => aRow('pending')));
    }
    expect(await recover(store)).toBe(2_000);
    expect(await store.openPendings(1)).toEqual([]);
    expect((await store.latest(1))[0]?.seq).toBe(3_999);
  });
});
