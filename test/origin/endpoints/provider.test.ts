import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../../origin/endpoints/endpoint.ts';
import { providerOf } from '../../../origin/endpoints/provider.ts';
import { MODEL_ROUTES } from '../../../shared/routes.ts';
import { endpoint } from './endpoints.ts';

const url = (
  provider: (typeof PROVIDER_NAMES)[number],
  base: string,
  path: (typeof MODEL_ROUTES)[number]['path'],
) => providerOf(provider).url(endpoint({ provider, base_url: base }), path).href;

describe('where a call goes', () => {
  it('puts the route behind the base URL of an OpenAI-like endpoint, without its /v1', () => {
    expect(url('openai-compatible', 'http://127.0.0.1:8000/v1', '/v1/chat/completions')).toBe(
      'http://127.0.0.1:8000/v1/chat/completions',
    );
    expect(url('azure-openai', 'https://acme.openai.azure.com/openai/v1/', '/v1/audio/speech')).toBe(
      'https://acme.openai.azure.com/openai/v1/audio/speech',
    );
    expect(url('openai-compatible', 'https://model.example', '/v1/embeddings')).toBe(
      'https://model.example/embeddings',
    );
  });

  it('takes Anthropic’s base URL with and without /v1', () => {
    for (const base of [
      'https://api.anthropic.com',
      'https://api.anthropic.com/',
      'https://api.anthropic.com/v1/',
    ]) {
      expect(url('anthropic', base, '/v1/messages')).toBe('https://api.anthropic.com/v1/messages');
    }
    expect(url('anthropic', 'http://127.0.0.1:9/proxy/v1', '/v1/messages/count_tokens')).toBe(
      'http://127.0.0.1:9/proxy/v1/messages/count_tokens',
    );
  });

  it('never leaves the host of the entry, whatever its path looks like (property)', () => {
    const paths = fc.array(
      fc.constantFrom('', 'v1', '..', '.', '//evil.example', '@evil.example', '\\evil', '%2e%2e'),
    );
    fc.assert(
      fc.property(
        paths,
        fc.constantFrom(...PROVIDER_NAMES),
        fc.constantFrom(...MODEL_ROUTES),
        (parts, name, route) => {
          const to = new URL(url(name, `https://model.example/${parts.join('/')}`, route.path));
          expect(to.host).toBe('model.example');
          expect(to.search).toBe('');
        },
      ),
    );
  });
});

describe('a credential', () => {
  it('goes up in the header that each provider reads', () => {
    const sent = (provider: (typeof PROVIDER_NAMES)[number]) =>
      providerOf(provider).authorize(endpoint({ provider }, 'the-key'));
    expect(sent('openai')).toEqual({ authorization: 'Bearer the-key' });
    expect(sent('bedrock')).toEqual({ authorization: 'Bearer the-key' });
    expect(sent('vertex')).toEqual({ authorization: 'Bearer the-key' });
    expect(sent('openai-compatible')).toEqual({ authorization: 'Bearer the-key' });
    expect(sent('azure-openai')).toEqual({ 'api-key': 'the-key' });
    expect(sent('anthropic')).toEqual({ 'x-api-key': 'the-key' });
  });

  it('is not sent where there is none', () => {
    for (const name of PROVIDER_NAMES)
      expect(providerOf(name).authorize(endpoint({ provider: name }))).toEqual({});
  });

  it('does not show in a log line of its endpoint', () => {
    const one = endpoint({}, 'the-key');
    expect(
      `${inspect(one, { depth: 9, showHidden: true })}${JSON.stringify(one)}${String(one.credential)}`,
    ).not.toContain('the-key');
  });
});

describe('where an answer came from', () => {
  const none = () => undefined;
  const observe = (entry: Record<string, unknown>, headers: Record<string, string> = {}) => {
    const one = endpoint(entry);
    return providerOf(one.provider).observeRegion(one, (name) => headers[name]);
  };
  const azure = {
    provider: 'azure-openai',
    region: 'swedencentral',
    base_url: 'https://acme.openai.azure.com/openai/v1',
  };

  it('is what Azure’s header says, in one spelling', () => {
    for (const value of ['Sweden Central', 'swedencentral']) {
      expect(observe(azure, { 'x-ms-region': value })).toEqual({
        region: 'swedencentral',
        source: 'response_header',
      });
    }
    expect(observe(azure, { 'x-ms-region': 'East US 2' })).toEqual({
      region: 'eastus2',
      source: 'response_header',
    });
  });

  it('is not taken from a header that names no region, nor from the declaration in its stead', () => {
    for (const value of ['', 'Sweden Central, East US', '<script>', 'x'.repeat(300)]) {
      expect(observe(azure, { 'x-ms-region': value })).toEqual({
        region: 'unreadable',
        source: 'response_header',
      });
    }
  });

  it('is the host’s region where a provider’s own host names it, else only declared', () => {
    expect(observe({})).toEqual({ region: 'eu-central-1', source: 'hostname' });
    expect(
      observe({
        provider: 'vertex',
        region: 'europe-west3',
        base_url:
          'https://europe-west3-aiplatform.googleapis.com/v1/projects/p/locations/europe-west3/endpoints/openapi',
      }),
    ).toEqual({ region: 'europe-west3', source: 'hostname' });
    expect(observe(azure)).toEqual({ region: 'swedencentral', source: 'declared' });
    expect(
      observe({ provider: 'openai-compatible', base_url: 'https://eu-central-1.vllm.example/v1' }),
    ).toEqual({
      region: 'eu-central-1',
      source: 'declared',
    });
  });

  it('is not shown by the host of a deployment that routes across regions', () => {
    expect(observe({ deployment: 'zone', models: { chat: 'eu.vendor.model' } })).toEqual({
      region: 'eu-central-1',
      source: 'declared',
    });
  });

  it('is read from the header that a self-hosted engine was configured with', () => {
    const own = {
      provider: 'openai-compatible',
      region: 'own-1',
      country: 'DE',
      region_header: 'x-served-in',
    };
    expect(observe(own, { 'x-served-in': 'own-2' })).toEqual({ region: 'own-2', source: 'response_header' });
    expect(observe(own)).toEqual({ region: 'own-1', source: 'declared' });
  });

  it('is unknown where nothing says it', () => {
    const one = endpoint({ provider: 'openai-compatible' });
    const { region: _, ...unlabelled } = one;
    expect(providerOf('openai-compatible').observeRegion(unlabelled, none)).toBeUndefined();
  });
});
