import { describe, expect, it } from 'vitest';
import { everyEndpointHealthy } from '../../../origin/health/snapshot.ts';
import { type MatrixInput, matrix } from '../../../origin/policy/matrix.ts';
import { matrixText } from '../../../origin/policy/matrix-text.ts';
import { resolve } from '../../../origin/policy/resolve.ts';
import { tenantsFileSchema } from '../../../origin/policy/tenants.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { EU_ENDPOINTS, policy, registryOf } from './world.ts';

const { tenants } = tenantsFileSchema.parse({
  tenants: {
    acme: {
      jurisdiction: 'eu',
      policy: 'eu-test',
      teams: { irish: { allowed_regions: ['eu-west-1'] }, free: {}, mute: { workloads: [] } },
    },
  },
});

const INPUT: MatrixInput = {
  jurisdiction: 'eu',
  registry: registryOf(EU_ENDPOINTS),
  policies: new Map([['eu-test', policy({ tenants: { 'agency-de': { allow: { countries: ['DE'] } } } })]]),
  tenants: new Map(Object.entries(tenants).map(([id, tenant]) => [id, { id, ...tenant }])),
};

describe('the matrix', () => {
  const rows = matrix(INPUT);
  const summary = rows.map(({ subject, allowed, refusal }) => [
    subject.tenant ?? '*',
    subject.team?.name ?? '*',
    refusal ?? allowed.map(({ endpoint }) => endpoint.id).join(' '),
  ]);

  it('has a row for everyone and one for each whom an exception or lock treats differently', () => {
    expect(summary).toEqual([
      ['*', '*', 'fra dub par own'],
      ['agency-de', '*', 'fra own'],
      ['acme', 'irish', 'dub'],
      ['acme', 'mute', 'model_not_allowed'],
    ]);
  });

  it('names every endpoint that some state of health can reach, and no other', () => {
    for (const { policy: loaded, subject, workload, api, allowed } of rows) {
      const ids = EU_ENDPOINTS.map(({ id }) => id);
      const reached = new Set<string>();
      for (let mask = 0; mask < 2 ** ids.length; mask += 1) {
        const isDown = (id: string) => (mask & (1 << ids.indexOf(id))) !== 0;
        const health = {
          of: (id: string) =>
            isDown(id) ? { usable: false as const, why: 'down', retryAt: 1 } : everyEndpointHealthy.of(id),
        };
        const input = {
          zone: 'eu' as const,
          policy: loaded,
          tenant: subject.tenant ?? 'x',
          team: subject.team,
        };
        const resolved = resolve({ ...input, workload, api, registry: INPUT.registry, health, now: 0 });
        if (resolved.ok) for (const { endpoint } of resolved.value.candidates) reached.add(endpoint.id);
      }
      expect([...reached].sort()).toEqual(allowed.map(({ endpoint }) => endpoint.id).sort());
    }
  });

  it('prints as a table that needs no engineer', () => {
    const text = matrixText(rows);
    expect(text).toContain('Jurisdiction eu, policy eu-test@1.0.0');
    expect(text).toMatch(
      /chat \(openai API\) {2}every other tenant and team {2}1\. fra: eu-central-1, Frankfurt, DE; .*, model /,
    );
    expect(text).toMatch(/tenant acme, team irish +1\. dub: eu-west-1, Dublin, IE/);
    expect(text).toContain(
      'never dub: region eu-west-1 is in IE, which the exception of tenant agency-de does not allow',
    );
    expect(text).toContain('REFUSED, always: the list of workloads leaves this one out (model_not_allowed)');
  });

  it('says once what keeps an endpoint from everyone, and what keeps it from one tenant beside that tenant', () => {
    const registry = registryOf([...EU_ENDPOINTS, endpoint({ id: 'lon', region: 'eu-west-2' })]);
    const strict = policy(
      { tenants: { 'agency-de': { allow: { countries: ['DE'] } } } },
      { primary: 'fra', secondary: ['lon', 'dub'] },
    );
    const text = matrixText(matrix({ ...INPUT, registry, policies: new Map([['eu-test', strict]]) }));
    expect(text.match(/never lon/g)).toHaveLength(1);
    expect(text.match(/never dub/g)).toHaveLength(1);
  });

  it('leaves out APIs by which a workload cannot be called, and endpoints that speak another', () => {
    const registry = registryOf([
      ...EU_ENDPOINTS,
      endpoint({ id: 'claude', provider: 'anthropic', models: { chat: 'x-20260101' } }),
      endpoint({ id: 'other', provider: 'anthropic', models: {} }),
    ]);
    const told = (secondary: readonly string[]) =>
      matrix({
        ...INPUT,
        registry,
        policies: new Map([['eu-test', policy({}, { primary: 'fra', secondary })]]),
        tenants: new Map(),
      }).map(({ api, allowed, rejected }) => [
        api,
        ...allowed.map(({ endpoint: { id } }) => id),
        ...rejected.map(({ endpoint: id }) => `never ${id}`),
      ]);
    expect(told(['claude'])).toEqual([
      ['openai', 'fra'],
      ['anthropic', 'claude'],
    ]);
    expect(told(['other'])).toEqual([['openai', 'fra']]);
  });

  it.each([
    [
      'no endpoint is left',
      { tenants: { t: { allow: { regions: ['eu-west-3'] } } } },
      'the rules leave no endpoint',
    ],
    [
      'no model is approved',
      { tenants: { t: { allow: { models: ['another'] } } } },
      'no endpoint has a model that is approved',
    ],
    [
      'the workload is left out',
      { tenants: { t: { workloads: ['another'] } } },
      'the list of workloads leaves this one out',
    ],
  ])('says in plain words why somebody is always refused: %s', (_, change, words) => {
    const policies = new Map([['eu-test', policy(change)]]);
    const text = matrixText(matrix({ ...INPUT, policies, tenants: new Map() }));
    expect(text).toContain(`tenant t            REFUSED, always: ${words}`);
  });
});
