import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PROVIDER_NAMES } from '../../../origin/endpoints/endpoint.ts';
import { providerOf } from '../../../origin/endpoints/provider.ts';
import { MODEL_ROUTES } from '../../../shared/routes.ts';
import { endpoint, noTokens } from './endpoints.ts';

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

  it('is the documented URL of each provider', () => {
    const documented = [
      ['openai', 'https://eu.api.openai.com/v1', 'https://eu.api.openai.com/v1/chat/completions'],
      [
        'azure-openai',
        'https://acme.openai.azure.com/openai/v1',
        'https://acme.openai.azure.com/openai/v1/chat/completions',
      ],
      [
        'bedrock',
        'https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1',
        'https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1/chat/completions',
      ],
      [
        'vertex',
        'https://europe-west3-aiplatform.googleapis.com/v1/projects/p/locations/europe-west3/endpoints/openapi',
        'https://europe-west3-aiplatform.googleapis.com/v1/projects/p/locations/europe-west3/endpoints/openapi/chat/completions',
      ],
    ] as const;
    for (const [provider, base, whole] of documented)
      expect(url(provider, base, '/v1/chat/completions')).toBe(whole);
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
  it('goes up in the header that each provider reads', async () => {
    const sent = (provider: (typeof PROVIDER_NAMES)[number]) =>
      providerOf(provider).authorize(endpoint({ provider }, 'the-key'), noTokens);
    expect(await sent('openai')).toEqual({ authorization: 'Bearer the-key' });
    expect(await sent('bedrock')).toEqual({ authorization: 'Bearer the-key' });
    expect(await sent('vertex')).toEqual({ authorization: 'Bearer the-key' });
    expect(await sent('openai-compatible')).toEqual({ authorization: 'Bearer the-key' });
    expect(await sent('azure-openai')).toEqual({ 'api-key': 'the-key' });
    expect(await sent('anthropic')).toEqual({ 'x-api-key': 'the-key' });
  });

  it('is not sent where there is none', async () => {
    for (const name of PROVIDER_NAMES)
      expect(await providerOf(name).authorize(endpoint({ provider: name }), noTokens)).toEqual({});
  });

  it('does not show in a log line of its endpoint', () => {
    const one = endpoint({}, 'the-key');
    expect(
      `${inspect(one, { depth: 9, showHidden: true })}${JSON.stringify(one)}${String(one.credential)}`,
    ).not.toContain('the-key');
  });
});
