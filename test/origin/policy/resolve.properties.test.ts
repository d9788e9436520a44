import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import type { HealthSnapshot } from '../../../origin/health/snapshot.ts';
import { type ResolveInput, resolve } from '../../../origin/policy/resolve.ts';
import { CLOUD_REGIONS, cloudRegion } from '../../../shared/catalogue.ts';
import { DEPLOYMENTS } from '../../../shared/policy.ts';
import { countriesOf } from '../../../shared/policy-rules.ts';
import { ZONE_COUNTRIES, ZONES } from '../../../shared/zones.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { NOW, policy, registryOf } from './world.ts';

const IDS = ['a', 'b', 'c', 'd', 'e', 'f'];
const COUNTRIES = ['DE', 'FR', 'IE', 'GB', 'CH', 'US', 'AU', 'NO', 'EU', 'EEA'];
const REGIONS = [...CLOUD_REGIONS.map(({ region }) => region), 'own-1', 'own-2'];
const NEAR = ['eu-central-1', 'eu-west-1', 'eu-west-2', 'europe-west6', 'norwayeast', 'us-east-1', 'own-1'];

/** Any region, mostly of the few that are worth confusing. */
const region = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...NEAR) }, fc.constantFrom(...REGIONS));
const zone = fc.oneof({ weight: 6, arbitrary: fc.constant('eu' as const) }, fc.constantFrom(...ZONES));
const rarely = <T>(arbitrary: fc.Arbitrary<readonly T[]>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant<readonly T[]>([]) }, arbitrary);
/** A nonempty pick of a list, mostly all of it. */
const mostOf = <T>(list: readonly T[]) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant([...list]) }, fc.subarray([...list], { minLength: 1 }));

const base = endpoint({ provider: 'openai-compatible', region: 'own-1', country: 'DE' });

/** Any endpoint at all: also one that no registry would let in, or that lies about its country and zone. */
const anyEndpoint = (id: string): fc.Arbitrary<Endpoint> =>
  fc
    .record({
      region: fc.option(region, { nil: undefined }),
      country: fc.option(fc.constantFrom('DE', 'FR', 'GB', 'CH', 'US', 'AU', 'XX'), { nil: undefined }),
      zone: fc.option(fc.constantFrom(...ZONES), { nil: undefined }),
      deployment: fc.constantFrom('regional' as const, 'regional' as const, ...DEPLOYMENTS),
      api: fc.constantFrom('openai' as const, 'openai' as const, 'openai' as const, 'anthropic' as const),
      models: fc.constantFrom({ chat: 'm1' }, { chat: 'm1' }, { chat: 'm2' }, {}),
    })
    .map(({ region, country, zone, ...rest }) => {
      const { region: _, country: __, zone: ___, ...bare } = base;
      return {
        ...bare,
        ...rest,
        id,
        ...(region !== undefined && { region }),
        ...(country !== undefined && { country }),
        ...(zone !== undefined && { zone }),
      };
    });

const endpoints = fc.tuple(...IDS.map(anyEndpoint));
const lists = {
  countries: fc.oneof(
    { weight: 3, arbitrary: fc.constant(['EEA']) },
    fc.array(fc.constantFrom(...COUNTRIES), { minLength: 1, maxLength: 4 }),
  ),
  regions: rarely(fc.array(region, { minLength: 1, maxLength: 3 })),
  deployments: mostOf(DEPLOYMENTS),
  models: rarely(fc.subarray(['m1', 'm2'], { minLength: 1 })),
};

/** An exception leaves a list out where it takes nothing away. */
const named = (allow: Readonly<Record<string, readonly unknown[]>>) =>
  Object.fromEntries(Object.entries(allow).filter(([, list]) => list.length > 0));

/** Any policy of the right form, whatever it means: `checkPolicy` is not asked. */
const anyPolicy = fc
  .record({
    jurisdiction: zone,
    allow: fc.record(lists),
    exception: fc.record(lists).map(named),
    graph: fc.shuffledSubarray([...IDS, 'unknown'], { minLength: 3 }),
  })
  .map(({ jurisdiction, allow, exception, graph: [primary, ...secondary] }) =>
    policy({ jurisdiction, allow, tenants: { narrow: { allow: exception } } }, { primary, secondary }),
  );

const anyHealth = rarely(fc.subarray(IDS)).map(
  (down): HealthSnapshot => ({
    of: (id) => (down.includes(id) ? { usable: false, why: 'down', retryAt: NOW + 1_000 } : { usable: true }),
  }),
);

const anyTeam = fc.option(
  fc.record(
    { name: fc.constant('t'), allowed_regions: fc.uniqueArray(region, { maxLength: 20 }) },
    { requiredKeys: ['name'] },
  ),
  { nil: undefined },
);

const anyInput: fc.Arbitrary<ResolveInput> = fc
  .record({
    endpoints,
    policy: anyPolicy,
    health: anyHealth,
    team: anyTeam,
    zone,
    tenant: fc.constantFrom('acme', 'narrow'),
  })
  .map(({ endpoints: all, ...rest }) => ({
    ...rest,
    registry: registryOf(all),
    workload: 'chat',
    api: 'openai',
    now: NOW,
  }));

const candidates = (input: ResolveInput): readonly Endpoint[] => {
  const resolved = resolve(input);
  return resolved.ok ? resolved.value.candidates.map((candidate) => candidate.endpoint) : [];
};

/** Where an endpoint is, by the catalogue wherever that knows the region. */
const countryOf = ({ region, country }: Endpoint) => cloudRegion(region ?? '')?.country ?? country;

const RUNS = { numRuns: 3_000 };

describe('resolve, whatever the configuration', () => {
  it('is not trivially empty over these inputs', () => {
    const served = fc
      .sample(anyInput, { numRuns: 2_000, seed: 1 })
      .filter((input) => candidates(input).length > 0);
    expect(served.length).toBeGreaterThan(100);
  });

  it('never returns an endpoint outside the zone’s countries, nor one that may leave them', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const zone: readonly string[] = ZONE_COUNTRIES[input.zone];
        for (const one of candidates(input)) {
          const { deployment, zone: declared } = one;
          const actual = countryOf(one);
          expect(deployment).not.toBe('global');
          if (actual === undefined) expect([deployment, declared]).toEqual(['zone', input.zone]);
          else expect(zone).toContain(actual);
        }
      }),
      RUNS,
    );
  });

  it('never returns an endpoint outside the policy’s or the exception’s countries', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { allow, tenants } = input.policy.document;
        const lists = [
          allow.countries,
          input.tenant === 'narrow' ? tenants.narrow?.allow.countries : undefined,
        ];
        for (const one of candidates(input)) {
          const reach: readonly string[] =
            one.deployment === 'zone' ? ZONE_COUNTRIES[input.zone] : [countryOf(one) ?? ''];
          for (const list of lists) {
            if (list !== undefined)
              expect(reach.filter((country) => !countriesOf(list).has(country))).toEqual([]);
          }
        }
      }),
      RUNS,
    );
  });

  it('never returns an endpoint outside a team’s lock, and every lock only takes away', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const locked = candidates(input);
        const free = candidates({ ...input, team: undefined });
        expect(free).toEqual(expect.arrayContaining([...locked]));
        const lock = input.team?.allowed_regions;
        if (lock) expect(locked.filter(({ region }) => !lock.includes(region ?? ''))).toEqual([]);
      }),
      RUNS,
    );
  });

  it('opens nothing to anyone by an endpoint that is added to the registry alone', () => {
    fc.assert(
      fc.property(anyInput, anyEndpoint('added'), (input, added) => {
        const registry = new Map([...input.registry, ['added', added] as const]);
        expect(resolve({ ...input, registry })).toEqual(resolve(input));
      }),
      RUNS,
    );
  });

  it('opens nothing to another tenant by an exception', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const { tenants: _, ...document } = input.policy.document;
        const without = { ...input, policy: { ...input.policy, document: { ...document, tenants: {} } } };
        expect(candidates({ ...input, tenant: 'acme' })).toEqual(candidates({ ...without, tenant: 'acme' }));
        expect(candidates(without)).toEqual(expect.arrayContaining([...candidates(input)]));
      }),
      RUNS,
    );
  });

  it('answers the same to the same, in the order of the graph, whatever the order of the registry', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const reversed = new Map([...input.registry].reverse());
        expect(resolve({ ...input, registry: reversed })).toEqual(resolve(input));
        const { primary, secondary } = input.policy.document.workloads.chat?.failover ?? { secondary: [] };
        const ids = candidates(input).map(({ id }) => id);
        expect(ids).toEqual([primary, ...secondary].filter((id) => id !== undefined && ids.includes(id)));
      }),
      RUNS,
    );
  });

  it('never tells an outage as a denial, nor a denial as an outage', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const now = resolve(input);
        const healthy = resolve({ ...input, health: { of: () => ({ usable: true }) } });
        if (now.ok) expect(healthy.ok).toBe(true);
        else if (healthy.ok) expect(now.error.code).toBe('no_compliant_endpoint');
        else expect(now).toEqual(healthy);
      }),
      RUNS,
    );
  });

  it('accounts for every endpoint of the graph, as a candidate or with its reason', () => {
    fc.assert(
      fc.property(anyInput, (input) => {
        const resolved = resolve(input);
        const { primary, secondary } = input.policy.document.workloads.chat?.failover ?? { secondary: [] };
        const rejected = resolved.ok
          ? resolved.value.rejected
          : 'candidates' in resolved.error
            ? resolved.error.candidates
            : undefined;
        if (rejected === undefined) return;
        const told = [...candidates(input).map(({ id }) => id), ...rejected.map((one) => one.endpoint)];
        expect(told.sort()).toEqual([primary, ...secondary].sort());
        expect(rejected.every((one) => one.rejected.length > 0)).toBe(true);
      }),
      RUNS,
    );
  });
});
