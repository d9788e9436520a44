import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import { unfitToCount, weigh } from '../../../origin/policy/evidence.ts';
import type { Standpoint } from '../../../origin/policy/standing.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { policy } from './world.ts';

const US = {
  jurisdiction: 'us',
  allow: { countries: ['US'], deployments: ['regional', 'zone'] },
};

const standpoint = (change: Record<string, unknown> = {}, zone: 'eu' | 'us' = 'eu'): Standpoint => ({
  zone,
  policy: policy(change),
  tenant: 'acme',
  team: undefined,
});

const ENGINE = { provider: 'openai-compatible', region_header: 'x-ran-in', region_body: 'meta.region' };

/** What is found of an answer with such a header and such values in its body. */
function found(
  one: Endpoint,
  for_: Standpoint,
  { header, body = [] }: { readonly header?: string; readonly body?: readonly string[] },
) {
  const { finding, facts } = weigh(one, { header: () => header, body }, 'chat', for_);
  return [finding, facts.serving_region, facts.region_source, facts.region_verdict];
}

describe('what an answer says of where it ran', () => {
  const fra = endpoint(ENGINE);

  it('matches, or mismatches inside the policy, or is outside it', () => {
    const eu = standpoint();
    expect(found(fra, eu, { header: 'eu-central-1' })).toEqual([
      'fine',
      'eu-central-1',
      'response_header',
      'match',
    ]);
    expect(found(fra, eu, { header: 'eu-west-1' })).toEqual([
      'fine',
      'eu-west-1',
      'response_header',
      'mismatch',
    ]);
    expect(found(fra, eu, { header: 'eu-west-2' })).toEqual([
      'misplaced',
      'eu-west-2',
      'response_header',
      'mismatch',
    ]);
    expect(found(fra, eu, {})).toEqual(['fine', 'eu-central-1', 'declared', 'unverified']);
  });

  it('is outside as soon as one piece of it is, whatever better pieces say', () => {
    const said = { header: 'eu-central-1', body: ['eu-central-1', 'us-east-1'] };
    expect(found(fra, standpoint(), said)).toEqual(['misplaced', 'us-east-1', 'response_body', 'mismatch']);
  });

  it('is outside where it cannot be read, or names a place that nobody knows', () => {
    for (const body of [[''], ['atlantis-1'], ['eu-central-1 or so'], ['unreadable']]) {
      expect(found(fra, standpoint(), { body })[0]).toBe('misplaced');
    }
  });

  it('agrees with no label that is a word for no region', () => {
    for (const region of ['unreadable', 'global', 'us']) {
      const labelled = endpoint({ ...ENGINE, region, country: 'DE' });
      expect(found(labelled, standpoint(), { header: region })[0], region).toBe('misplaced');
    }
  });
});

describe('a zone in place of a region', () => {
  const own = { provider: 'anthropic', base_url: 'https://api.anthropic.com' };
  const claude = endpoint({ ...own, region: 'anthropic-us', country: 'US' });

  it('is a match where the zone is one country, as inference_geo us is', () => {
    expect(found(claude, standpoint(US, 'us'), { body: ['us'] })).toEqual([
      'fine',
      'us',
      'response_body',
      'match',
    ]);
  });

  it('agrees with a region of a larger zone without being proof of it', () => {
    const one = endpoint(ENGINE);
    expect(found(one, standpoint(), { body: ['eu'] })).toEqual(['fine', 'eu', 'response_body', 'unverified']);
    const strict = standpoint({ allow: { countries: ['EEA'], region_evidence: 'response_body' } });
    expect(found(one, strict, { body: ['eu'] })[0]).toBe('too_weak');
  });

  it('is outside where it is another, and "global" is outside every pinned zone', () => {
    expect(found(endpoint(ENGINE), standpoint(), { body: ['us'] })[0]).toBe('misplaced');
    for (const for_ of [standpoint(US, 'us')]) {
      expect(found(claude, for_, { body: ['global'] })).toEqual([
        'misplaced',
        'global',
        'response_body',
        'mismatch',
      ]);
      expect(found(claude, for_, { body: ['eu'] })[0]).toBe('misplaced');
    }
  });

  it('may be any, and "global" too, for a workload that is not pinned at a global deployment alone', () => {
    const failover = { primary: 'one' };
    const unpinned = standpoint({
      workloads: { chat: { class: 'large', failover, pinned: false, reason: 'public texts' } },
    });
    const anywhere = endpoint({ ...ENGINE, deployment: 'global' });
    expect(found(anywhere, unpinned, { body: ['global'] })[0]).toBe('fine');
    expect(found(anywhere, unpinned, { body: ['us'] })[0]).toBe('fine');
    expect(found(endpoint(ENGINE), unpinned, { body: ['global'] })[0]).toBe('misplaced');
  });
});

describe('the grade that a policy asks for', () => {
  const asks = (region_evidence: string) => standpoint({ allow: { countries: ['EEA'], region_evidence } });
  const one = endpoint(ENGINE);

  it('is met by that grade and by better ones', () => {
    expect(found(one, asks('response_header'), { header: 'eu-central-1' })[0]).toBe('fine');
    expect(found(one, asks('response_body'), { header: 'eu-central-1' })[0]).toBe('fine');
    expect(found(one, asks('response_body'), { body: ['eu-central-1'] })[0]).toBe('fine');
    expect(found(endpoint(), asks('hostname'), {})[0]).toBe('fine');
  });

  it('is not met by an answer that leaves out what its endpoint could say', () => {
    for (const region of ['eu-central-1', 'eu-west-1']) {
      const weak = ['too_weak', region, 'response_body', 'unverified'];
      expect(found(one, asks('response_header'), { body: [region] })).toEqual(weak);
    }
    expect(found(one, asks('response_body'), {})).toEqual([
      'too_weak',
      'eu-central-1',
      'declared',
      'unverified',
    ]);
    expect(found(one, asks('hostname'), {})[0]).toBe('too_weak');
  });

  it('may be asked for by one tenant alone', () => {
    const one_tenant = { tenants: { acme: { allow: { region_evidence: 'response_header' } } } };
    expect(found(one, standpoint(one_tenant), { body: ['eu-central-1'] })[0]).toBe('too_weak');
    expect(found(one, { ...standpoint(one_tenant), tenant: 'other' }, { body: ['eu-central-1'] })[0]).toBe(
      'fine',
    );
  });

  it('cannot be met by a count of tokens where bodies alone would show it', () => {
    const inBody = endpoint({ provider: 'openai-compatible', region_body: 'meta.region' });
    expect(unfitToCount(inBody, asks('response_body'))).toContain('cannot show its region');
    expect(unfitToCount(one, asks('response_body'))).toBeUndefined();
    expect(unfitToCount(inBody, asks('declared'))).toBeUndefined();
  });

  it('is met by no count of an endpoint that has to be told where to run, which counts are not', () => {
    const claude = endpoint({
      ...{ provider: 'anthropic', base_url: 'https://api.anthropic.com' },
      ...{ region: 'anthropic-us', country: 'US' },
    });
    expect(unfitToCount(claude, standpoint(US, 'us'))).toContain('told where to run by other requests alone');
  });
});
