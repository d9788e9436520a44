import { beforeEach, describe, expect, it } from 'vitest';
import { RELEASED, unreleasedViolations } from '../../../origin/audit/violations.ts';
import { aRow } from '../../support/audit-records.ts';
import { MemoryStore } from '../../support/memory-store.ts';

const SEEN = { serving_region: 'us-east-1', region_source: 'response_header' } as const;

const violation = (endpoint: string, region_verdict: 'mismatch' | 'unverified' = 'mismatch') =>
  aRow('violation', { endpoint, region_verdict, ...SEEN });
const control = (endpoint: string, selection_reason: string) =>
  aRow('control', { endpoint, actor: 'ana', selection_reason });
const release = (endpoint: string, was = 'quarantined') =>
  control(endpoint, `${RELEASED}, was ${was}: mended`);

describe('evidence on record that nobody has released', () => {
  let log: MemoryStore;

  beforeEach(() => {
    log = new MemoryStore();
  });

  const held = async () => (await unreleasedViolations(log)).map(({ endpoint }) => endpoint);

  it('is that of each endpoint whose last violation no release follows, with when and where', async () => {
    await log.append([violation('fra'), violation('dub'), release('dub'), violation('fra')]);
    expect(await unreleasedViolations(log)).toEqual([
      {
        endpoint: 'fra',
        at: Date.parse('2026-01-01T00:00:00.000Z'),
        evidence: { region: 'us-east-1', source: 'response_header' },
      },
    ]);
  });

  it('is there again where evidence followed the release', async () => {
    await log.append([violation('fra'), release('fra'), violation('fra')]);
    expect(await held()).toEqual(['fra']);
  });

  it('is not ended by the release of another endpoint, of an order, or by words of a reason', async () => {
    await log.append([
      violation('fra'),
      release('dub'),
      release('fra', 'forced_open'),
      control('fra', `circuit forced open, was closed: ${RELEASED}, was quarantined: x`),
      control('fra', 'circuit closed to quarantined: elsewhere'),
    ]);
    expect(await held()).toEqual(['fra']);
  });

  it('is no answer that only did not show its place, nor one without an endpoint', async () => {
    await log.append([violation('fra', 'unverified'), aRow('violation', { region_verdict: 'mismatch' })]);
    expect(await held()).toEqual([]);
  });

  it('is found behind pages of endpoints and of orders', async () => {
    const names = Array.from({ length: 600 }, (_, index) => `e-${index}`);
    await log.append(names.map((name) => violation(name)));
    expect(await held()).toEqual(names);
    log = new MemoryStore();
    const order = () => control('fra', 'circuit forced open, was closed: x');
    await log.append([violation('fra'), ...Array.from({ length: 600 }, order), release('fra')]);
    expect(await held()).toEqual([]);
  });
});
