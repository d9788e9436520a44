import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import { everyEndpointHealthy } from '../../../origin/health/snapshot.ts';
import { workloadsFor } from '../../../origin/policy/resolve.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { ask, down, EU_ENDPOINTS, NOW, outcome, policy, registryOf, rejection } from './world.ts';

const ALL_DOWN = down({ fra: 90_000, dub: 30_500, par: 45_000, own: 60_000 });

const withEndpoint = (one: Endpoint, graph = { primary: one.id, secondary: ['fra'] }) => ({
  registry: registryOf([...EU_ENDPOINTS, one]),
  policy: policy({}, graph),
});

describe('candidates', () => {
  it('come in the order of the graph, with the endpoint’s own model and the reason of its choice', () => {
    const resolved = ask({ health: down({ fra: 1_000 }) });
    expect(resolved.ok && resolved.value).toMatchObject({
      workload: 'chat',
      class: 'large',
      candidates: [
        { endpoint: { id: 'dub' }, reason: 'secondary 1: fra rejected: circuit open: fra failed' },
        { endpoint: { id: 'par' }, model: 'par-model-2026' },
        { endpoint: { id: 'own' }, reason: 'last resort: fra rejected: circuit open: fra failed' },
      ],
      rejected: [{ endpoint: 'fra', rejected: 'circuit open: fra failed' }],
    });
    expect(outcome()).toBe('fra dub par own');
  });

  it('say no more than a record can hold', () => {
    const talkative = { of: () => ({ usable: false as const, why: 'x'.repeat(10_000), retryAt: NOW }) };
    const resolved = ask({ health: { of: (id) => (id === 'own' ? { usable: true } : talkative.of()) } });
    if (!resolved.ok) throw new Error('refused');
    expect(resolved.value.candidates.map(({ reason }) => reason.length)).toEqual([512]);
    expect(resolved.value.rejected.map(({ rejected }) => rejected.length)).toEqual([512, 512, 512]);
  });

  it('never hold an endpoint twice, even of a graph that does', () => {
    expect(
      outcome({ policy: policy({}, { primary: 'fra', secondary: ['fra', 'dub'], last_resort: 'fra' }) }),
    ).toBe('fra dub');
  });
});

describe('the zone', () => {
  it('never lets a us endpoint into the eu graph, and says where it is', () => {
    const change = withEndpoint(endpoint({ id: 'iad', region: 'us-east-1' }));
    expect(outcome(change)).toBe('fra');
    expect(rejection('iad', change)).toBe('N. Virginia (us-east-1) is in US, zone us, not eu');
  });

  it('refuses London at run time too, and never asks it when every eu endpoint is down', () => {
    const change = withEndpoint(endpoint({ id: 'lon', region: 'eu-west-2' }));
    expect(rejection('lon', change)).toBe('London (eu-west-2) is in GB, zone uk, not eu');
    expect(outcome({ ...change, health: down({ fra: 5_000 }) })).toBe('no_compliant_endpoint');
  });

  it('believes the catalogue, not an endpoint that says it is elsewhere', () => {
    const lying: Endpoint = { ...endpoint({ id: 'lon', region: 'eu-west-2' }), country: 'DE', zone: 'eu' };
    expect(rejection('lon', withEndpoint(lying))).toContain('is in GB');
  });

  it('takes nothing from a policy of another zone', () => {
    expect(outcome({ policy: policy({ jurisdiction: 'us', allow: { countries: ['EEA'] } }) })).toBe(
      'region_blocked',
    );
  });

  it('rejects what is nowhere known, and what routes across the world', () => {
    const {
      region: _,
      country: __,
      zone: ___,
      ...unlabelled
    } = endpoint({ id: 'x', provider: 'openai-compatible' });
    expect(rejection('x', withEndpoint(unlabelled))).toBe(
      'region not labelled: it is not known in which country it runs',
    );
    const global = endpoint({ id: 'x', deployment: 'global' });
    expect(rejection('x', withEndpoint(global))).toContain('deployment type global routes across regions');
  });
});

describe('the policy', () => {
  it('narrows by countries and by regions', () => {
    expect(outcome({ policy: policy({ allow: { countries: ['DE'] } }) })).toBe('fra own');
    expect(rejection('dub', { policy: policy({ allow: { countries: ['DE'] } }) })).toBe(
      'region eu-west-1 is in IE, which policy eu-test@1.0.0 does not allow',
    );
    expect(outcome({ policy: policy({ allow: { countries: ['EEA'], regions: ['eu-west-1'] } }) })).toBe(
      'dub',
    );
  });

  it('lets a zone deployment pass only where it allows the type and every country of the zone', () => {
    const registry = registryOf([endpoint({ id: 'fra', deployment: 'zone' })]);
    const by = (allow: object) => ({ registry, policy: policy({ allow }, { primary: 'fra' }) });
    expect(outcome(by({ countries: ['EEA'] }))).toBe('region_blocked');
    expect(outcome(by({ countries: ['EEA'], deployments: ['regional', 'zone'] }))).toBe('fra');
    expect(outcome(by({ countries: ['DE'], deployments: ['regional', 'zone'] }))).toBe('region_blocked');
    expect(outcome(by({ countries: ['EEA'], regions: ['eu-central-1'], deployments: ['zone'] }))).toBe(
      'region_blocked',
    );
  });

  it('lets approved dated models pass only, and tells a model from a place', () => {
    const approved = (models: string[]) => ({ policy: policy({ allow: { countries: ['EEA'], models } }) });
    expect(outcome(approved(['par-model-2026']))).toBe('par');
    expect(rejection('fra', approved(['par-model-2026']))).toContain(
      'is not on the approved list of policy eu-test@1.0.0',
    );
    expect(outcome(approved(['other']))).toBe('model_not_allowed');
  });

  it('speaks of the region where one endpoint falls to its place and another to its model', () => {
    const mixed = policy(
      { allow: { countries: ['DE'], models: ['other'] } },
      { primary: 'fra', secondary: ['dub'] },
    );
    expect(outcome({ policy: mixed })).toBe('region_blocked');
  });

  it('passes over endpoints that cannot show their region as well as it asks', () => {
    const asking = (region_evidence: string) => ({
      policy: policy({ allow: { countries: ['EEA'], region_evidence } }),
    });
    expect(outcome(asking('declared'))).toBe('fra dub par own');
    expect(outcome(asking('hostname'))).toBe('fra dub par');
    expect(outcome(asking('response_header'))).toBe('par');
    expect(rejection('own', asking('hostname'))).toContain('can be shown by declared at best');
  });

  it('narrows further for a tenant with an exception, and for that tenant alone', () => {
    const strict = policy({
      tenants: { 'agency-de': { allow: { countries: ['DE'] }, workloads: ['embed'] } },
    });
    const german = policy({ tenants: { 'agency-de': { allow: { countries: ['DE'] } } } });
    expect(outcome({ policy: german, tenant: 'agency-de' })).toBe('fra own');
    expect(rejection('dub', { policy: german, tenant: 'agency-de' })).toContain(
      'the exception of tenant agency-de',
    );
    expect(outcome({ policy: german })).toBe('fra dub par own');
    expect(outcome({ policy: strict, tenant: 'agency-de' })).toBe('model_not_allowed');
    for (const tenant of ['constructor', '__proto__'])
      expect(outcome({ policy: german, tenant })).toBe('fra dub par own');
  });
});

describe('a team’s region lock', () => {
  const { region: _, ...rest } = endpoint({ id: 'dark', provider: 'openai-compatible' });
  const dark: Endpoint = { ...rest, country: 'DE', zone: 'eu' };
  const registry = registryOf([...EU_ENDPOINTS, dark]);
  const graph = policy({}, { primary: 'fra', secondary: ['dub', 'dark'] });
  const locked = (allowed_regions?: readonly string[]) => ({
    registry,
    policy: graph,
    team: { name: 'legal', ...(allowed_regions && { allowed_regions }) },
  });

  it.each([
    ['no lock: unrestricted within the policy', undefined, 'fra dub dark'],
    ['a region in the set is kept, others and unlabelled ones are dropped', ['eu-west-1'], 'dub'],
    ['all dropped', ['eu-north-1'], 'region_blocked'],
    ['an empty lock lets nothing through', [], 'region_blocked'],
  ])('%s', (_name, regions, expected) => {
    expect(outcome(locked(regions))).toBe(expected);
  });

  it('says of each endpoint why it was dropped', () => {
    expect(rejection('fra', locked(['eu-west-1']))).toBe(
      'region eu-central-1 is outside the region lock of team legal',
    );
    expect(rejection('dark', locked(['eu-west-1']))).toBe(
      'region not labelled, and the region lock of team legal applies',
    );
  });

  it('cannot widen: a us region in it opens nothing', () => {
    expect(
      outcome({ ...locked(['us-east-1']), ...withEndpoint(endpoint({ id: 'iad', region: 'us-east-1' })) }),
    ).toBe('region_blocked');
  });

  it('refuses a workload that the team’s list leaves out', () => {
    expect(outcome({ team: { name: 'legal', workloads: ['other'] } })).toBe('model_not_allowed');
    expect(outcome({ team: { name: 'legal', workloads: ['chat'] } })).toBe('fra dub par own');
  });
});

describe('a refusal tells a denial from an outage', () => {
  it('names an unknown workload as such, and what every object has is unknown too', () => {
    for (const workload of ['nope', 'constructor', '__proto__', 'toString']) {
      expect(ask({ workload })).toEqual({
        ok: false,
        error: { code: 'workload_unknown', why: 'not_in_policy' },
      });
    }
  });

  it('says so where only the other API is spoken, but the lock on workloads first', () => {
    expect(ask({ api: 'anthropic' })).toEqual({
      ok: false,
      error: { code: 'workload_unknown', why: 'other_api' },
    });
    expect(outcome({ api: 'anthropic', team: { name: 'legal', workloads: [] } })).toBe('model_not_allowed');
  });

  it('is 503 with every endpoint’s reason while all are down, and when the first may be tried again', () => {
    expect(ask({ health: ALL_DOWN })).toEqual({
      ok: false,
      error: {
        code: 'no_compliant_endpoint',
        policy: 'eu-test@1.0.0',
        candidates: ['fra', 'dub', 'par', 'own'].map((id) => ({
          endpoint: id,
          rejected: `circuit open: ${id} failed`,
        })),
        retryAfter: 31,
      },
    });
  });

  it('bounds Retry-After, whatever the health says', () => {
    const after = (ms: number) => {
      const resolved = ask({ health: { of: () => ({ usable: false, why: 'down', retryAt: NOW + ms }) } });
      return !resolved.ok && 'retryAfter' in resolved.error && resolved.error.retryAfter;
    };
    expect([-5_000, 0, 1, 1e12, Number.POSITIVE_INFINITY, Number.NaN].map(after)).toEqual([
      1, 1, 1, 3_600, 3_600, 3_600,
    ]);
  });

  it('is an outage where one endpoint is down and the rest denied; a denial once it is denied too', () => {
    const german = policy({ allow: { countries: ['DE'] } }, { primary: 'fra', secondary: ['dub'] });
    expect(outcome({ policy: german, health: down({ fra: 1_000 }) })).toBe('no_compliant_endpoint');
    const team = { name: 'legal', allowed_regions: ['eu-north-1'] };
    expect(outcome({ policy: german, team, health: ALL_DOWN })).toBe('region_blocked');
  });

  it('never asks for the health of an endpoint that is denied anyway', () => {
    const asked: string[] = [];
    const health = {
      of: (id: string) => {
        asked.push(id);
        return everyEndpointHealthy.of(id);
      },
    };
    ask({ policy: policy({ allow: { countries: ['DE'] } }), health });
    expect(asked).toEqual(['fra', 'own']);
  });
});

describe('workloadsFor', () => {
  const failover = { primary: 'fra' };
  const two = policy({
    workloads: {
      chat: { class: 'l', failover },
      embed: { class: 's', failover },
      none: { class: 's', failover },
    },
  });
  const registry = registryOf([endpoint({ id: 'fra', models: { chat: 'm', embed: 'e' } })]);
  const names = (team?: { name: string; workloads?: string[]; allowed_regions?: string[] }) =>
    workloadsFor({ zone: 'eu', policy: two, tenant: 'acme', team, api: 'openai', registry });

  it('lists what the caller may call, in the order of the policy, and nothing that is deployed nowhere', () => {
    expect(names()).toEqual(['chat', 'embed']);
    expect(names({ name: 'legal', workloads: ['embed'] })).toEqual(['embed']);
    expect(names({ name: 'legal', allowed_regions: ['eu-west-1'] })).toEqual([]);
  });
});
