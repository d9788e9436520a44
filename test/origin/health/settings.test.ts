import { describe, expect, it } from 'vitest';
import { type MayServe, probePlan } from '../../../origin/health/probe-plan.ts';
import { circuitSettings } from '../../../origin/health/settings.ts';
import { policyOf } from './policies.ts';

const everywhere: MayServe = (endpoint, workload) => ({
  api: 'openai',
  model: `${workload}-at-${endpoint}`,
  tokensMember: 'max_tokens',
});

describe('the settings of an endpoint', () => {
  it('are those of the policy, and the standard ones where it says nothing', () => {
    const policy = policyOf({ chat: { endpoints: ['fra'], health: { open_circuit_after: 2 } } });
    expect(circuitSettings([policy]).get('fra')).toEqual({
      openAfter: 2,
      halfOpenAfterMs: 30_000,
      maxTtftMs: 4_000,
    });
  });

  it('are the strictest of all workloads and policies that name it, member by member', () => {
    const one = policyOf({
      chat: { endpoints: ['fra', 'dub'], health: { open_circuit_after: 2, max_ttft_ms: 9_000 } },
      draft: { endpoints: ['fra'], health: { open_circuit_after: 9, half_open_after_seconds: 60 } },
    });
    const other = policyOf({ chat: { endpoints: ['fra'], health: { max_ttft_ms: 1_000 } } });
    const settings = circuitSettings([one, other]);
    expect(settings.get('fra')).toEqual({ openAfter: 2, halfOpenAfterMs: 60_000, maxTtftMs: 1_000 });
    expect(settings.get('dub')).toEqual({ openAfter: 2, halfOpenAfterMs: 30_000, maxTtftMs: 9_000 });
    expect(settings.has('par')).toBe(false);
  });
});

describe('the plan of probes', () => {
  it('never probes an endpoint that the policy shuts out for everybody', () => {
    const policy = policyOf({ chat: { endpoints: ['fra', 'virginia'] } });
    const plan = probePlan([policy], (endpoint, ...rest) =>
      endpoint === 'virginia' ? undefined : everywhere(endpoint, ...rest),
    );
    expect(plan.map(({ endpoint }) => endpoint)).toEqual(['fra']);
  });

  it('probes nothing for a workload that asks for no probes', () => {
    const policy = policyOf({ embed: { endpoints: ['fra'], health: { probe: 'none' } } });
    expect(probePlan([policy], everywhere)).toEqual([]);
  });

  it('probes an endpoint once, for the workload with the shortest interval, with 16 tokens', () => {
    const policy = policyOf({
      chat: { endpoints: ['fra'], health: { interval_seconds: 20 } },
      draft: { endpoints: ['fra'], health: { interval_seconds: 5 } },
      other: { endpoints: ['fra'], health: { interval_seconds: 5 } },
    });
    expect(probePlan([policy], everywhere)).toEqual([
      {
        endpoint: 'fra',
        workload: 'draft',
        intervalMs: 5_000,
        api: 'openai',
        model: 'draft-at-fra',
        tokens: 16,
        tokensMember: 'max_tokens',
      },
    ]);
  });

  it('asks for as many tokens as the endpoint says', () => {
    const policy = policyOf({ chat: { endpoints: ['fra'] } });
    const plan = probePlan([policy], (...asked) => {
      const model = everywhere(...asked);
      return model && { ...model, tokens: 64 };
    });
    expect(plan).toMatchObject([{ tokens: 64 }]);
  });
});
