import { describe, expect, it } from 'vitest';
import { unusedIn } from '../../../../origin/audit/reports/unused.ts';
import { usesIn } from '../../../../origin/audit/reports/usage.ts';
import { SampleLog } from '../../../shared/verify/sample-log.ts';
import { POLICY, proven } from './proven.ts';

function newLog(): SampleLog {
  const log = new SampleLog();
  log.policy = POLICY;
  return log;
}

const DUBLIN = { endpoint: 'dub', provider_region: 'eu-west-1', serving_region: 'eu-west-1' } as const;
const LONDON = { endpoint: 'fra', provider_region: 'eu-central-1', serving_region: 'eu-west-2' } as const;

const outsideOf = async (log: SampleLog) =>
  usesIn(await proven(log)).filter(({ outside }) => outside !== null);

describe('what was used, against the policy of its time', () => {
  it('counts each attempt once, with its first and last', async () => {
    const log = newLog();
    for (const id of ['one', 'two', 'three']) log.call(id);
    log.call('four', DUBLIN);
    const uses = usesIn(await proven(log));
    expect(uses.map(({ kind, name, count }) => [kind, name, count])).toEqual([
      ['region', 'eu-central-1', 3],
      ['endpoint', 'fra', 3],
      ['model', 'vendor.large-20260101', 4],
      ['region', 'eu-west-1', 1],
      ['endpoint', 'dub', 1],
    ]);
    expect(uses[0]).toMatchObject({
      ...{ policy: 'eu-support@2.0.0', outside: null, owners: ['a.person', 'b.person'] },
      first: { request_id: 'one', tenant: 'acme' },
    });
  });

  it('counts an attempt that never was answered, for the prompt may have been there', async () => {
    const log = newLog();
    const pending = log.add('pending', { ...log.facts('lost'), ...DUBLIN, serving_region: undefined });
    log.add('abandoned', { ...log.facts('lost'), ...DUBLIN, pending_id: pending.id });
    expect(usesIn(await proven(log)).map(({ name, count }) => [name, count])).toContainEqual(['dub', 1]);
  });

  it('names a region outside the table with its first request, its count and whom to ask', async () => {
    const log = newLog();
    log.call('fine');
    log.call('first-abroad', LONDON);
    log.call('again-abroad', LONDON);
    expect(await outsideOf(log)).toMatchObject([
      {
        ...{ kind: 'region', name: 'eu-west-2', count: 2, endpoints: ['fra'] },
        ...{ owners: ['a.person', 'b.person'], first: { request_id: 'first-abroad' } },
        outside: expect.stringContaining('is in GB, zone uk, not eu'),
      },
    ]);
  });

  it('holds a tenant to its own exception and lets the others be', async () => {
    const log = newLog();
    log.call('dublin', DUBLIN);
    log.call('dublin-de', { ...DUBLIN, tenant: 'agency-de' });
    expect(await outsideOf(log)).toMatchObject([
      {
        kind: 'region',
        name: 'eu-west-1',
        count: 1,
        first: { request_id: 'dublin-de', tenant: 'agency-de' },
      },
    ]);
  });

  it('names an endpoint that no graph has, and a model that nobody approved', async () => {
    const log = newLog();
    log.call('odd', { endpoint: 'par', provider_region: 'eu-west-3', serving_region: 'eu-west-3' });
    log.call('new', { model: 'vendor.new-20260201' });
    expect((await outsideOf(log)).map(({ kind, name }) => [kind, name])).toEqual([
      ['endpoint', 'par'],
      ['model', 'vendor.new-20260201'],
    ]);
  });

  it('names what a probe has shown, though no request was there', async () => {
    const log = newLog();
    log.add('violation', {
      ...{ request_id: undefined, tenant: undefined, endpoint: 'fra', workload: 'support-chat' },
      ...{ serving_region: 'eu-west-2', region_source: 'response_header', region_verdict: 'mismatch' },
    });
    expect(await outsideOf(log)).toMatchObject([
      {
        name: 'eu-west-2',
        policy: null,
        first: { request_id: null },
        outside: expect.stringContaining('evidence'),
      },
    ]);
  });

  it('tells evidence of a wrong region also where the answer before it looked right', async () => {
    const log = newLog();
    const [pending] = log.call('late').slice(0, 1);
    log.records.pop();
    log.add('violation', {
      ...log.facts('late'),
      ...LONDON,
      pending_id: pending?.id,
      region_verdict: 'mismatch',
    });
    expect((await outsideOf(log)).map(({ kind, name }) => [kind, name])).toEqual([['region', 'eu-west-2']]);
  });

  it('says what is allowed and was never used', async () => {
    const log = newLog();
    log.call('one');
    const evidence = await proven(log);
    expect(unusedIn(evidence, usesIn(evidence)).map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      ...['endpoint dub', 'region eu-west-1', 'region eu-west-3', 'country IE', 'country FR'],
      'model vendor.old-20250101',
    ]);
  });
});
