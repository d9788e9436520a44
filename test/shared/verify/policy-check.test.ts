import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { policyFile } from '../../../shared/bundle.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import type { Report } from '../../../shared/verify/report.ts';
import { verifyBundle } from '../../../shared/verify/verify.ts';
import { filesOf, type Parts, partsOf } from './sample-bundle.ts';
import { POLICY, SampleLog } from './sample-log.ts';

const PACK = `pack: de-only
version: 1.0.0
jurisdiction: eu
summary: Germany only.
allow: { countries: [DE], deployments: [regional] }
forbid_unpinned: true
`;
const STRICT = `${POLICY.replace('allow:', 'packs: [de-only]\nallow:')}\n---\n${PACK}`;
const ZONE_WIDE = POLICY.replace('[EEA] }', '[EEA], deployments: [regional, zone] }');
const UNPINNED = POLICY.replace('class: large,', 'class: large, pinned: false, reason: public text only,');

/** What is found in a bundle of one call with these facts, under this policy. */
async function found(
  members: Partial<AuditRecord>,
  policy = POLICY,
  change: (parts: Parts) => void = () => undefined,
): Promise<Report> {
  const log = new SampleLog();
  log.policy = policy;
  log.call('call-1', members);
  const parts = await partsOf(log, { sizes: [0, log.size] });
  change(parts);
  return verifyBundle(filesOf(parts), log.trust(), { strict: true });
}

describe('the region of a receipt', () => {
  it.each<[string, Partial<AuditRecord>, string]>([
    ['of the policy’s countries', {}, POLICY],
    ['of another country of the zone', { provider_region: 'eu-west-1', serving_region: 'eu-west-1' }, POLICY],
    ['that the answer tells only as the zone', { serving_region: 'eu' }, POLICY],
    ['of a tenant’s exception', { tenant: 'agency-de' }, POLICY],
    ['of a pack', {}, STRICT],
    ['anywhere in the zone', { deployment: 'zone', serving_region: 'eu-west-3' }, ZONE_WIDE],
    [
      'anywhere at all for a workload that is not pinned',
      { deployment: 'global', serving_region: 'global' },
      UNPINNED,
    ],
    [
      'in any country for a workload that is not pinned',
      { deployment: 'global', serving_region: 'us-east-1' },
      UNPINNED,
    ],
  ])('%s is allowed', async (_, members, policy) => {
    expect(await found(members, policy)).toMatchObject({ ok: true, faults: [], receipts: [{}] });
  });

  it.each<[string, Partial<AuditRecord>, string, string]>([
    ['of another zone', { serving_region: 'us-east-1' }, POLICY, 'is in US'],
    [
      'whose name only sounds like the zone',
      { provider_region: 'eu-west-2', serving_region: 'eu-west-2' },
      POLICY,
      'GB',
    ],
    [
      'outside a tenant’s exception',
      { tenant: 'agency-de', serving_region: 'eu-west-1' },
      POLICY,
      'exception of tenant agency-de',
    ],
    ['outside a pack', { serving_region: 'eu-west-1' }, STRICT, 'the pack de-only@1.0.0'],
    ['that no catalogue knows', { serving_region: 'moon-1' }, POLICY, 'no known country'],
    ['that is another zone as a whole', { serving_region: 'us' }, POLICY, 'came from us'],
    ['that is the whole world', { serving_region: 'global' }, POLICY, 'came from global'],
    ['of a deployment that routes across regions', { deployment: 'zone' }, POLICY, 'deployment type zone'],
    ['of a global deployment', { deployment: 'global' }, ZONE_WIDE, 'anywhere in the world'],
    [
      'outside the zone by a zone deployment',
      { deployment: 'zone', serving_region: 'us-east-1' },
      ZONE_WIDE,
      'is in US',
    ],
    [
      'outside an exception, though the workload is not pinned',
      { tenant: 'agency-de', deployment: 'global' },
      UNPINNED,
      'exception',
    ],
    [
      'outside the zone by a regional endpoint of a workload that is not pinned',
      { serving_region: 'us-east-1' },
      UNPINNED,
      'is in US',
    ],
  ])('%s is not allowed', async (_, members, policy, reason) => {
    const { ok, faults } = await found(members, policy);
    expect(ok).toBe(false);
    expect(faults).toMatchObject([
      {
        fault: 'not_allowed',
        request_id: 'call-1',
        strict_only: true,
        reason: expect.stringContaining(reason),
      },
    ]);
  });

  it('of a facility of the operator’s own is where the operator declares it', async () => {
    const members = {
      provider_region: 'own-dc',
      serving_region: 'own-dc',
      region_source: 'declared',
    } as const;
    const declared = (country: string) => (parts: Parts) => {
      parts.manifest.declared_regions = [
        { region: 'own-dc', country },
        { region: 'eu-west-2', country: 'DE' },
      ];
    };
    expect(await found(members, POLICY, declared('DE'))).toMatchObject({ ok: true });
    expect((await found(members, POLICY, declared('US'))).faults).toMatchObject([{ fault: 'not_allowed' }]);
    // The catalogue's word goes before the operator's.
    const london = { provider_region: 'eu-west-2', serving_region: 'eu-west-2' };
    expect((await found(london, POLICY, declared('DE'))).faults).toMatchObject([{ fault: 'not_allowed' }]);
  });

  it('that is shown worse than the policy asks is not allowed', async () => {
    const policy = POLICY.replace('[EEA] }', '[EEA], region_evidence: response_header }');
    expect((await found({}, policy)).faults).toMatchObject([
      { fault: 'not_allowed', reason: expect.stringContaining('weaker than the policy') },
    ]);
  });

  it('that an endpoint’s verdict on the request shows badly is allowed, as no model has run', async () => {
    const log = new SampleLog();
    log.policy = POLICY.replace('[EEA] }', '[EEA], region_evidence: response_header }');
    log.verdict('call-1');
    const files = filesOf(await partsOf(log, { sizes: [0, log.size] }));
    expect(verifyBundle(files, log.trust(), { strict: true })).toMatchObject({ ok: true, receipts: [{}] });
  });

  it('that the log itself found wrong later is named', async () => {
    const log = new SampleLog();
    const [pending, served] = log.call('call-1');
    log.records.pop();
    log.add('violation', {
      ...served,
      id: '01M8RYG71TKKBNC2F33B4H0002',
      kind: 'violation',
      pending_id: pending?.id ?? '',
      serving_region: 'us-east-1',
      region_verdict: 'mismatch',
    });
    const files = filesOf(await partsOf(log, { sizes: [0, log.size] }));
    expect(verifyBundle(files, log.trust(), { strict: true }).faults).toMatchObject([
      { fault: 'not_allowed', request_id: 'call-1', reason: expect.stringContaining('us-east-1') },
    ]);
  });

  it('fails only a strict run, as what was signed holds', async () => {
    const log = new SampleLog();
    log.call('call-1', { serving_region: 'us-east-1' });
    const files = filesOf(await partsOf(log, { sizes: [0, log.size] }));
    expect(verifyBundle(files, log.trust(), { strict: false })).toMatchObject({
      ok: true,
      faults: [{ fault: 'not_allowed' }],
      receipts: [{ serving_region: 'us-east-1' }],
    });
  });
});

describe('the policy of a receipt', () => {
  it('must approve of the model, where it lists models', async () => {
    const policy = POLICY.replace('[EEA] }', '[EEA], models: [vendor.small-20260101] }');
    expect((await found({}, policy)).faults).toMatchObject([
      { fault: 'not_allowed', reason: expect.stringContaining('approved list') },
    ]);
  });

  it('must be of the zone', async () => {
    const policy = POLICY.replace('jurisdiction: eu', 'jurisdiction: ch')
      .replace('[EEA]', '[CH]')
      .replace('[DE]', '[CH]');
    expect((await found({}, policy)).faults).toMatchObject([
      { fault: 'not_allowed', reason: expect.stringContaining('is not of the zone eu') },
    ]);
  });

  const name = policyFile('eu-support', '1.0.0', hash('sha256', POLICY));

  it('must be in the bundle', async () => {
    const { faults } = await found({}, POLICY, (parts) => void parts.policies.delete(name));
    expect(faults).toMatchObject([{ fault: 'missing', request_id: 'call-1' }]);
  });

  it('must not be swapped for one that allows more', async () => {
    const { faults } = await found({}, POLICY, (parts) => void parts.policies.set(name, ZONE_WIDE));
    expect(faults).toMatchObject([
      { fault: 'damaged', reason: expect.stringContaining(name) },
      { fault: 'missing', request_id: 'call-1' },
    ]);
  });

  it('must be the version that the record names', async () => {
    const { faults } = await found({ policy_version: '2.0.0' });
    expect(faults).toMatchObject([{ fault: 'contradicts', request_id: 'call-1' }]);
  });

  it('must come with the packs that it names', async () => {
    const { faults } = await found({}, STRICT.split('\n---\n')[0]);
    expect(faults).toMatchObject([{ fault: 'malformed' }]);
  });

  it('must be one that the gateway could have loaded', async () => {
    const { faults } = await found({}, POLICY.replace('reviewer: b.person', 'reviewer: a.person'));
    expect(faults).toMatchObject([{ fault: 'not_allowed', reason: expect.stringContaining('reviewer') }]);
  });

  it.each([
    ['has a member twice', POLICY.replace('author:', 'version: 1.0.0\nauthor:')],
    ['grows by aliases', `${POLICY}x: &a [${'*a,'.repeat(500)}]\n`],
    ['is nested too deep', `${POLICY}x: ${'['.repeat(10_000)}\n`],
    ['is no YAML', `version: 1.0.0\n${'{'.repeat(10)}`],
  ])('is malformed where it %s', async (_, policy) => {
    const { faults } = await found({}, policy);
    expect(faults.map(({ fault }) => fault)).toContain('malformed');
  });
});

describe('a call', () => {
  const report = async (build: (log: SampleLog) => void, sizes?: (log: SampleLog) => number[]) => {
    const log = new SampleLog();
    build(log);
    const files = filesOf(await partsOf(log, { sizes: sizes?.(log) ?? [0, log.size] }));
    return verifyBundle(files, log.trust(), { strict: true });
  };

  it('without an end fails a strict run', async () => {
    const { ok, faults } = await report((log) => {
      log.call('call-1');
      log.records.pop();
    });
    expect(ok).toBe(false);
    expect(faults).toMatchObject([{ fault: 'unended', request_id: 'call-1', place: 0, strict_only: true }]);
  });

  it('that a crash left open has its end in the record that says so', async () => {
    const { faults } = await report((log) => {
      const [pending] = log.call('call-1');
      log.records.pop();
      log.add('abandoned', { request_id: 'call-1', pending_id: pending?.id ?? '' });
    });
    expect(faults).toEqual([]);
  });

  it('that began after the window may go on', async () => {
    const { faults } = await report((log) => {
      log.call('call-1');
      log.add('pending', { at: '2026-03-02T00:00:00.000Z' });
    });
    expect(faults).toEqual([]);
  });

  it('of an endpoint that was called without any `pending` is named', async () => {
    const { faults } = await report((log) => {
      log.call('call-1');
      const { pending_id: _, ...served } = log.records[1] ?? {};
      log.records[1] = served as never;
    });
    expect(faults).toMatchObject([{ fault: 'unfounded', place: 1, strict_only: true }]);
  });

  it('with two ends is named', async () => {
    const { faults } = await report((log) => {
      const [pending] = log.call('call-1');
      log.add('abandoned', { request_id: 'call-1', pending_id: pending?.id ?? '' });
    });
    expect(faults).toMatchObject([{ fault: 'unended', place: 3 }]);
  });

  it('without a `pending` before it is named, also where its record names none', async () => {
    const { faults } = await report((log) => {
      log.call('call-1', { pending_id: '01M8RYG71TKKBNC2F33B4HZZZZ' });
    });
    expect(faults.map(({ fault }) => fault)).toEqual(['unfounded', 'unfounded', 'unended']);
  });
});
