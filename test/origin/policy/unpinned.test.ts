import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import { loadedPolicy } from '../../../origin/policy/document.ts';
import { weigh } from '../../../origin/policy/evidence.ts';
import type { Pack } from '../../../shared/pack.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { ask, outcome, pack, policy, registryOf, rejection } from './world.ts';

const fra = endpoint({ id: 'fra' });
const anywhere = endpoint({
  id: 'anywhere',
  provider: 'azure-openai',
  region: 'swedencentral',
  deployment: 'global',
});
const zoned = endpoint({ id: 'zoned', deployment: 'zone' });
const iad = endpoint({ id: 'iad', region: 'us-east-1' });
const abroad = endpoint({ id: 'abroad', region: 'us-east-1', deployment: 'zone' });
const ALL: readonly Endpoint[] = [fra, anywhere, zoned, iad, abroad];
const GRAPH = { primary: 'fra', secondary: ['anywhere', 'zoned', 'iad', 'abroad'] };

const world = (pinning: object, change: object = {}, packs: readonly Pack[] = []) => {
  const chat = { class: 'large', failover: GRAPH, ...pinning };
  return { registry: registryOf(ALL), policy: policy({ workloads: { chat }, ...change }, GRAPH, packs) };
};
const UNPINNED = { pinned: false, reason: 'public texts only' };
const open = (change: object = {}, packs: readonly Pack[] = []) => world(UNPINNED, change, packs);
const PINNED = world({});

describe('a workload that is not pinned', () => {
  it('may be served by zone and global deployments, and by no other that is outside', () => {
    expect(outcome(open())).toBe('fra anywhere zoned');
    expect(rejection('iad', open())).toContain('is in US, zone us, not eu');
    expect(rejection('abroad', open())).toContain('is in US, zone us, not eu');
  });

  it('says why in the resolution, and one that is pinned says nothing', () => {
    const resolved = ask(open());
    expect(resolved.ok && resolved.value.unpinned).toBe('public texts only');
    expect(ask()).not.toHaveProperty('value.unpinned');
  });

  it('is the only kind that a global deployment may serve', () => {
    expect(outcome(PINNED)).toBe('fra');
    expect(rejection('anywhere', PINNED)).toContain('routes across regions of the whole world');
    expect(outcome(world({ pinned: false }))).toBe('fra');
  });

  it('opens nothing to the other workloads of the policy', () => {
    const chat = { class: 'large', pinned: false, reason: 'public', failover: GRAPH };
    const review = { class: 'large', failover: GRAPH };
    const models = { chat: 'm', review: 'm' };
    const registry = registryOf(ALL.map((one) => ({ ...one, models })));
    const both = { registry, policy: policy({ workloads: { chat, review } }) };
    expect(outcome({ ...both, workload: 'chat' })).toBe('fra anywhere zoned');
    expect(outcome({ ...both, workload: 'review' })).toBe('fra');
  });

  it('stays where a tenant’s exception or a team’s lock says', () => {
    for (const allow of [
      { countries: ['EEA'] },
      { deployments: ['regional'] },
      { regions: ['eu-central-1'] },
    ]) {
      const narrowed = open({ tenants: { acme: { allow } } });
      expect(rejection('anywhere', narrowed)).toContain('the exception of tenant acme');
    }
    const team = { name: 'legal', allowed_regions: ['eu-central-1', 'swedencentral'] };
    expect(outcome({ ...open(), team })).toBe('fra');
  });

  it('keeps to approved models and to the grade of evidence all the same', () => {
    const approved = open({ allow: { countries: ['EEA'], models: ['other'] } });
    expect(rejection('anywhere', approved)).toContain('is not on the approved list');
    const shown = open({ allow: { countries: ['EEA'], region_evidence: 'hostname' } });
    expect(outcome(shown)).toBe('fra anywhere');
  });

  it('is pinned all the same under a pack that forbids it, even where nobody checked the document', () => {
    const forbidden = open({}, [pack({ forbid_unpinned: true })]);
    expect(outcome(forbidden)).toBe('fra');
    expect(ask(forbidden)).not.toHaveProperty('value.unpinned');
  });

  it('may be answered from abroad without a violation, where a pinned one may not', () => {
    const said = { header: () => 'East US', body: [] };
    const from = (loaded: ReturnType<typeof open>) =>
      weigh(anywhere, said, 'chat', { zone: 'eu', policy: loaded.policy, tenant: 'acme', team: undefined });
    expect(from(open())).toMatchObject({
      finding: 'fine',
      facts: { serving_region: 'eastus', region_verdict: 'mismatch' },
    });
    expect(from(PINNED)).toMatchObject({ finding: 'misplaced' });
  });
});

describe('a policy in force', () => {
  it('cannot be made without the packs that its document names', () => {
    const { document } = policy();
    expect(() => loadedPolicy({ ...document, packs: ['de-only'] }, Buffer.from(''))).toThrow(
      'packs that it names',
    );
  });
});
