import { describe, expect, it } from 'vitest';
import { datedModel, disparities } from '../../../origin/policy/parity.ts';
import { endpoint } from '../endpoints/endpoints.ts';
import { policy, registryOf } from './world.ts';

describe('the model behind an id', () => {
  it.each([
    ['eu.anthropic.claude-x-20260101-v1:0', 'claude-x@20260101'],
    ['arn:aws:bedrock:eu-central-1::foundation-model/anthropic.claude-x-20260101-v1:0', 'claude-x-20260101'],
    ['publishers/google/models/gemini-x-001', 'google/gemini-x-001'],
    ['gpt-x-2026-01-01', 'gpt-x-20260101'],
  ])('is one, whoever serves it: %s and %s', (one, other) => {
    expect(datedModel(one)).toBe(datedModel(other));
  });

  it.each([
    ['gpt-x-2026-01-01', 'gpt-x-2026-02-01'],
    ['gpt-x-2026-01-01', 'gpt-x'],
    ['gpt-4.1-2026-01-01', 'gpt-3.1-2026-01-01'],
    ['amazon.titan-x-v1', 'amazon.titan-x-v2:0'],
    ['phi-3:8b', 'phi-3:70b'],
    ['phi-3:8b', 'phi-4:8b'],
    ['claude-x-mini@20260101', 'claude-x@20260101'],
  ])('is another for another date, version or size: %s and %s', (one, other) => {
    expect(datedModel(one)).not.toBe(datedModel(other));
  });
});

describe('model parity', () => {
  const fra = endpoint({ id: 'fra', models: { chat: 'vendor.large-20260101-v1:0' } });
  const dub = endpoint({ id: 'dub', region: 'eu-west-1', models: { chat: 'eu.vendor.large-20260101-v1:0' } });
  const par = endpoint({ id: 'par', region: 'eu-west-3', models: { chat: 'vendor.large-20260201-v1:0' } });
  const iad = endpoint({ id: 'iad', region: 'us-east-1', models: { chat: 'vendor.other-20260101-v1:0' } });
  const graph = (...secondary: string[]) =>
    disparities(policy({}, { primary: 'fra', secondary }), registryOf([fra, dub, par, iad]), 'eu');

  it('holds among endpoints that serve the same dated model', () => {
    expect(graph('dub')).toEqual([]);
  });

  it('is broken by another date, and says where, by whom and with what', () => {
    expect(graph('dub', 'par')).toEqual([
      {
        path: ['workloads', 'chat', 'failover', 'secondary', 1],
        message:
          'par serves chat with vendor.large-20260201-v1:0, fra with vendor.large-20260101-v1:0: a failover changes the model',
      },
    ]);
  });

  it('does not ask an endpoint that can never serve', () => {
    expect(graph('iad')).toEqual([]);
  });
});
