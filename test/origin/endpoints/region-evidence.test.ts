import { describe, expect, it } from 'vitest';
import { providerOf } from '../../../origin/endpoints/provider.ts';
import { bestEvidence, observedRegions } from '../../../origin/endpoints/region-evidence.ts';
import { endpointEntrySchema } from '../../../origin/endpoints/registry.ts';
import { endpoint } from './endpoints.ts';

function observe(
  entry: Record<string, unknown>,
  headers: Record<string, string> = {},
  body: readonly string[] = [],
) {
  const one = endpoint(entry);
  return observedRegions(providerOf(one.provider), one, { header: (name) => headers[name], body });
}

const best = (entry: Record<string, unknown>) => {
  const one = endpoint(entry);
  return bestEvidence(providerOf(one.provider), one);
};

const AZURE = {
  provider: 'azure-openai',
  region: 'swedencentral',
  base_url: 'https://acme.openai.azure.com/openai/v1',
};
const OWN = { provider: 'openai-compatible', region: 'own-1', country: 'DE' };
const ANTHROPIC = {
  provider: 'anthropic',
  region: 'us',
  country: 'US',
  base_url: 'https://api.anthropic.com',
};

describe('where an answer came from', () => {
  it('is what Azure’s header says, in one spelling', () => {
    for (const value of ['Sweden Central', 'swedencentral', 'SWEDENCENTRAL']) {
      expect(observe(AZURE, { 'x-ms-region': value })).toEqual([
        { region: 'swedencentral', source: 'response_header' },
      ]);
    }
    expect(observe(AZURE, { 'x-ms-region': 'East US 2' })).toEqual([
      { region: 'eastus2', source: 'response_header' },
    ]);
  });

  it('is not taken from a header that names no region, nor from the declaration in its stead', () => {
    for (const value of ['', 'Sweden Central, East US', '<script>', 'x'.repeat(300)]) {
      expect(observe(AZURE, { 'x-ms-region': value })).toEqual([
        { region: 'unreadable', source: 'response_header' },
      ]);
    }
  });

  it('is the host’s region where a provider’s own host names it, else only declared', () => {
    expect(observe({})).toEqual([{ region: 'eu-central-1', source: 'hostname' }]);
    const vertex = {
      provider: 'vertex',
      region: 'europe-west3',
      base_url:
        'https://europe-west3-aiplatform.googleapis.com/v1/projects/p/locations/europe-west3/endpoints/openapi',
    };
    expect(observe(vertex)).toEqual([{ region: 'europe-west3', source: 'hostname' }]);
    expect(observe(AZURE)).toEqual([{ region: 'swedencentral', source: 'declared' }]);
    const named = { provider: 'openai-compatible', base_url: 'https://eu-central-1.vllm.example/v1' };
    expect(observe(named)).toEqual([{ region: 'eu-central-1', source: 'declared' }]);
  });

  it('is not shown by the host of a deployment that routes across regions', () => {
    expect(observe({ deployment: 'zone', models: { chat: 'eu.vendor.model' } })).toEqual([
      { region: 'eu-central-1', source: 'declared' },
    ]);
  });

  it('is read from the header that a self-hosted engine was configured with', () => {
    const own = { ...OWN, region_header: 'x-served-in' };
    expect(observe(own, { 'x-served-in': 'own-2' })).toEqual([
      { region: 'own-2', source: 'response_header' },
    ]);
    expect(observe(own)).toEqual([{ region: 'own-1', source: 'declared' }]);
  });

  it('is each thing that header and body say, the header first, and the host no more', () => {
    const both = { region_header: 'x-served-in', region_body: 'meta.region' };
    expect(observe(both, { 'x-served-in': 'eu-central-1' }, ['US East 1', 'us-east-1'])).toEqual([
      { region: 'eu-central-1', source: 'response_header' },
      { region: 'useast1', source: 'response_body' },
      { region: 'us-east-1', source: 'response_body' },
    ]);
    expect(observe(both, {}, ['eu-central-1'])).toEqual([
      { region: 'eu-central-1', source: 'response_body' },
    ]);
  });

  it('is not what a body says that does not know it', () => {
    expect(observe(ANTHROPIC, {}, ['not_available'])).toEqual([{ region: 'us', source: 'declared' }]);
    expect(observe(ANTHROPIC, {}, ['us'])).toEqual([{ region: 'us', source: 'response_body' }]);
    expect(observe(ANTHROPIC, {}, [''])).toEqual([{ region: 'unreadable', source: 'response_body' }]);
  });

  it('is unknown where nothing says it', () => {
    const { region: _, ...unlabelled } = endpoint({ provider: 'openai-compatible' });
    const said = { header: () => undefined, body: [] };
    expect(observedRegions(providerOf('openai-compatible'), unlabelled, said)).toEqual([]);
  });
});

describe('the best that an endpoint can show', () => {
  it('is graded by where it says it', () => {
    expect(best(AZURE)).toBe('response_header');
    expect(best(ANTHROPIC)).toBe('response_body');
    expect(best({ ...OWN, region_body: 'region' })).toBe('response_body');
    expect(best({ ...OWN, region_body: 'region', region_header: 'x-region' })).toBe('response_header');
    expect(best({})).toBe('hostname');
    expect(best({ deployment: 'zone', models: { chat: 'eu.vendor.model' } })).toBe('declared');
    expect(best(OWN)).toBe('declared');
  });
});

describe('inference_geo', () => {
  it('is set and believed at Anthropic’s own host alone', () => {
    const own = endpoint(ANTHROPIC);
    expect(own.pin).toEqual({ member: 'inference_geo', value: 'us', route: '/v1/messages' });
    expect(own.regionBody).toEqual(['usage', 'inference_geo']);
    for (const base_url of [
      'http://127.0.0.1:8000/v1',
      'https://anthropic.com.example',
      'https://notanthropic.com',
    ]) {
      const other = endpoint({ ...ANTHROPIC, base_url });
      expect([other.pin, other.regionBody]).toEqual([undefined, undefined]);
    }
  });
});

describe('the path of a body’s evidence', () => {
  const accepted = (path: string) => endpointEntrySchema.shape.region_body.safeParse(path).success;

  it('is up to four members', () => {
    for (const path of ['region', 'usage.region', 'x_engine.served.in.region'])
      expect(accepted(path)).toBe(true);
    for (const path of ['', '.', 'a.', '.a', 'a..b', 'a b', '$.a', 'a[0]', 'a.b.c.d.e', 'a'.repeat(65)]) {
      expect(accepted(path)).toBe(false);
    }
  });
});
