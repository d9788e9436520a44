import { describe, expect, it } from 'vitest';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { filesOf, partsOf, type Window } from './sample-bundle.ts';
import { busyLog } from './sample-log.ts';

const log = busyLog();
const verify = async (window: Window) =>
  verifyBundle(filesOf(await partsOf(log, window)), log.trust(), { strict: true });

describe('a bundle as it should be', () => {
  it('proves each record and each receipt of the whole log', async () => {
    const report = await verify({ sizes: [0, 5, 12, log.size] });
    expect(report).toMatchObject({ ok: true, faults: [], scope: 'log', log: 'residency.example/eu' });
    expect(report.records).toEqual({ proven: log.size, pruned: 0 });
    expect(report.receipts.map(({ request_id }) => request_id)).toEqual(
      [1, 2, 3, 4, 5, 6].map((number) => `call-${number}`),
    );
    expect(report.receipts[0]).toEqual({
      request_id: 'call-1',
      tenant: 'acme',
      jurisdiction: 'eu',
      endpoint: 'fra',
      provider: 'bedrock',
      provider_region: 'eu-central-1',
      serving_region: 'eu-central-1',
      region_source: 'hostname',
      facility: undefined,
      workload: 'support-chat',
      attempt: 1,
      policy: 'eu-support@1.0.0',
      record: log.records[1]?.id,
      at: log.records[1]?.at,
      place: 1,
    });
  });

  it('proves a window that begins in the middle of a call', async () => {
    const report = await verify({ sizes: [2, 9, log.size] });
    expect(report).toMatchObject({ ok: true, faults: [], records: { proven: log.size - 2 } });
  });

  it('proves a window without a record, and says when both its ends were signed', async () => {
    const parts = await partsOf(log, { sizes: [5, 5] });
    const later = log.checkpoint(5, Date.parse('2026-03-01T11:00:00.000Z'));
    const files = filesOf({ ...parts, notes: [parts.notes[0] ?? '', later] });
    const report = verifyBundle(files, log.trust(), { strict: true });
    expect(report).toMatchObject({ ok: true, faults: [], records: { proven: 0 } });
    expect(report.checkpoints.last).toEqual({ size: 5, at: '2026-03-01T11:00:00.000Z', witnesses: [] });
  });

  it('proves the records of one tenant, each by itself', async () => {
    const report = await verify({ sizes: [0, 5, log.size], tenant: 'agency-de' });
    expect(report).toMatchObject({ ok: true, faults: [], scope: 'tenant', records: { proven: 6 } });
    expect(report.receipts.map(({ tenant }) => tenant)).toEqual(['agency-de', 'agency-de']);
  });

  it('still proves the tree after records were dropped, and counts them', async () => {
    const report = await verify({ sizes: [0, log.size], pruned: [0, 1, 2, 5] });
    expect(report).toMatchObject({ ok: true, faults: [], records: { proven: log.size - 4, pruned: 4 } });
    expect(report.receipts).toHaveLength(4);
  });

  it('is the same bundle for a log that begins with it', async () => {
    const parts = await partsOf(log, { sizes: [0, log.size] });
    const files = filesOf({ ...parts, manifest: { ...parts.manifest, first: null } });
    expect(verifyBundle(files, log.trust(), { strict: true })).toMatchObject({ ok: true, faults: [] });
  });
});
