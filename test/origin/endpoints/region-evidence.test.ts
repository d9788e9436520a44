import { describe, expect, it } from 'vitest';
import { bestEvidence, observedRegions, regionPathsOf } from '../../../origin/endpoints/region-evidence.ts';
import { endpointEntrySchema } from '../../../origin/endpoints/registry.ts';
import { endpoint } from './endpoints.ts';

function observe(
  entry: Record<string, unknown>,
  headers: Record<string, string> = {},
  body: readonly string[] = [],
) {
  return observedRegions(endpoint(entry), { header: (name) => headers[name], body });
}

const best = (entry: Record<string, unknown>) => bestEvidence(endpoint(entry));

const AZURE = {
  provider: 'azure-openai',
  region: 'swedencentral',
  base_url: 'https://acme.openai.azure.com/openai/v1',
};
const OWN = { provider: 'openai-compatible', region: 'own-1', country: 'DE' };
const ANTHROPIC = {
  provider: 'anthropic',
  region: 'anthropic-us',
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

  it('is neither the host’s nor the entry’s region where a deployment routes across regions', () => {
    expect(observe({ deployment: 'zone', models: { chat: 'eu.vendor.model' } })).toEqual([
      { region: 'eu', source: 'declared' },
    ]);
    expect(observe({ deployment: 'global', models: { chat: 'global.vendor.model' } })).toEqual([
      { region: 'global', source: 'declared' },
    ]);
  });

  it('is also what a header of some provider says, of an endpoint that nobody said has it', () => {
    expect(observe(OWN, { 'x-ms-region': 'East US' })).toEqual([
      { region: 'eastus', source: 'response_header' },
    ]);
    expect(observe(OWN, { 'x-ms-region': 'no region!' })).toEqual([{ region: 'own-1', source: 'declared' }]);
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
    expect(observe(ANTHROPIC, {}, ['not_available'])).toEqual([
      { region: 'anthropic-us', source: 'declared' },
    ]);
    expect(observe(ANTHROPIC, {}, ['us'])).toEqual([{ region: 'us', source: 'response_body' }]);
    expect(observe(ANTHROPIC, {}, [''])).toEqual([{ region: 'unreadable', source: 'response_body' }]);
  });

  it('is unknown where nothing says it', () => {
    const { region: _, ...unlabelled } = endpoint({ provider: 'openai-compatible' });
    const said = { header: () => undefined, body: [] };
    expect(observedRegions(unlabelled, said)).toEqual([]);
  });
});

describe('evidence that an entry asks for', () => {
  const DE = { region: 'germanywestcentral' };

  it('stands beside the provider’s own header and never in its stead', () => {
    const said = { 'x-gateway-region': 'germanywestcentral', 'x-ms-region': 'East US' };
    expect(observe({ ...AZURE, ...DE, region_header: 'x-gateway-region' }, said)).toEqual([
      { region: 'eastus', source: 'response_header' },
      { region: 'germanywestcentral', source: 'response_header' },
    ]);
  });

  it('stands beside what the provider’s own bodies say', () => {
    const own = endpoint({ ...ANTHROPIC, region_body: 'meta.region' });
    expect(regionPathsOf(own)).toEqual([
      ['usage', 'inference_geo'],
      ['meta', 'region'],
    ]);
  });

  it('is read at the hosts of a provider whatever the entry calls itself', () => {
    for (const host of [
      'acme.openai.azure.com',
      'acme.cognitiveservices.azure.com',
      'acme.services.ai.azure.com',
      'germanywestcentral.api.cognitive.microsoft.com',
    ]) {
      for (const provider of ['openai-compatible', 'openai', 'anthropic']) {
        const entry = { provider, ...DE, base_url: `https://${host}/openai/v1` };
        expect(observe(entry, { 'x-ms-region': 'East US' })).toEqual([
          { region: 'eastus', source: 'response_header' },
        ]);
      }
    }
    const messages = { ...ANTHROPIC, provider: 'openai-compatible' };
    expect(regionPathsOf(endpoint(messages))).toEqual([['usage', 'inference_geo']]);
    expect(best({ ...OWN, base_url: 'https://acme.openai.azure.com/v1' })).toBe('response_header');
    expect(best({ ...OWN, base_url: 'https://acme.openai.azure.com.example/v1' })).toBe('declared');
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
    expect(regionPathsOf(own)).toEqual([['usage', 'inference_geo']]);
    for (const base_url of [
      'http://127.0.0.1:8000/v1',
      'https://anthropic.com.example',
      'https://notanthropic.com',
    ]) {
      const other = endpoint({ ...ANTHROPIC, base_url });
      expect([other.pin, regionPathsOf(other)]).toEqual([undefined, []]);
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
