import { describe, expect, it } from 'vitest';
import { policySchema } from '../../shared/policy.ts';
import { checkPolicy, countriesOf, gradeMeets, graphOf } from '../../shared/policy-rules.ts';

const SMALLEST = {
  policy: 'us',
  version: '1',
  jurisdiction: 'us',
  author: 'a',
  reviewer: 'b',
  allow: { countries: ['US'] },
  workloads: { chat: { class: 'small', failover: { primary: 'one' } } },
};

describe('a policy document', () => {
  it('may leave out what has a safe standard: regional only, no narrowing, fail closed', () => {
    const policy = policySchema.parse(SMALLEST);
    expect(policy.allow).toEqual({
      countries: ['US'],
      regions: [],
      deployments: ['regional'],
      models: [],
      region_evidence: 'declared',
    });
    expect(policy.workloads.chat).toMatchObject({
      failover: { secondary: [], on_exhausted: 'fail_closed' },
      health: {
        interval_seconds: 10,
        open_circuit_after: 5,
        half_open_after_seconds: 30,
        max_ttft_ms: 4_000,
      },
    });
    expect(checkPolicy(policy)).toEqual([]);
  });

  it.each([
    ['no countries', { allow: { countries: [] } }],
    ['a country in words', { allow: { countries: ['Germany'] } }],
    ['a deployment nobody knows', { allow: { countries: ['US'], deployments: ['multi'] } }],
    ['a grade nobody knows', { allow: { countries: ['US'], region_evidence: 'hearsay' } }],
    ['a zone nobody knows', { jurisdiction: 'moon' }],
    ['a member nobody knows', { failover: {} }],
    ['no author', { author: ' ' }],
    ['no retention', { retention_days: 0 }],
    ['a workload name with spaces', { workloads: { 'a b': SMALLEST.workloads.chat } }],
  ])('is refused with %s', (_, change) => {
    expect(policySchema.safeParse({ ...SMALLEST, ...change }).success).toBe(false);
  });

  it('gives its graph in the order in which endpoints are tried', () => {
    const steps = graphOf({
      primary: 'a',
      secondary: ['b', 'c'],
      last_resort: 'd',
      on_exhausted: 'fail_closed',
    });
    expect(steps.map(({ endpoint, role }) => `${endpoint} ${role}`)).toEqual([
      'a primary',
      'b secondary 1',
      'c secondary 2',
      'd last resort',
    ]);
  });

  it('reads the named sets as their countries', () => {
    expect(countriesOf(['EU']).has('NO')).toBe(false);
    expect(countriesOf(['EEA']).has('NO')).toBe(true);
    expect(countriesOf(['EEA']).has('CH')).toBe(false);
    expect([...countriesOf(['DE', 'FR', 'DE'])]).toEqual(['DE', 'FR']);
  });

  it('ranks evidence from a response header down to a declaration', () => {
    expect(gradeMeets('response_header', 'hostname')).toBe(true);
    expect(gradeMeets('hostname', 'hostname')).toBe(true);
    expect(gradeMeets('declared', 'hostname')).toBe(false);
    expect(gradeMeets('hostname', 'response_body')).toBe(false);
  });
});
