import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../origin/config.ts';
import { ENVIRONMENT, ORIGIN, originFiles } from './origin-files.ts';

/** What the contract's policy says where its Azure endpoint is another one; `fault` where nothing starts by it. */
function verdict(change: Readonly<Record<string, string>>): string {
  const entry = {
    provider: 'azure-openai',
    region: 'France Central',
    deployment: 'regional',
    base_url: 'https://acme.openai.azure.com/openai/v1',
    models: '{ contract-review: example-2026-01-01 }',
    ...change,
  };
  const members = Object.entries(entry).filter(([, value]) => value !== '');
  const text = members.map(([name, value]) => `    ${name}: ${value}\n`).join('');
  const origin = ORIGIN.replace(
    /- id: par-azure[\s\S]*(?= {2}- id: own-dc-vllm)/,
    `- id: par-azure\n${text}`,
  );
  const loaded = loadConfig(originFiles({ 'eu.yaml': origin }), ENVIRONMENT);
  const [kind, found] = loaded.ok ? ['problem', loaded.value.problems] : ['fault', loaded.error];
  return found.map(({ message }) => `${kind}: ${message}`).join('\n');
}

describe('the check of an endpoint in the graph of a regional policy', () => {
  it('has nothing to say of a regional endpoint of the zone', () => {
    expect(verdict({})).toBe('');
  });

  it.each([
    [
      'an Azure zone deployment',
      { deployment: 'zone' },
      /^problem: .*deployment type zone routes across regions/,
    ],
    [
      'an Azure global deployment',
      { deployment: 'global' },
      /^problem: .*deployment type global routes across regions of the whole world/,
    ],
    ['no region at all', { region: '' }, /^problem: .*region not labelled/],
    [
      'the zone host of OpenAI, called regional',
      { provider: 'openai', region: '', base_url: 'https://eu.api.openai.com/v1' },
      /^fault: .*so the deployment is "zone"/,
    ],
    [
      'the zone host of OpenAI',
      { provider: 'openai', region: '', deployment: 'zone', base_url: 'https://eu.api.openai.com/v1' },
      /^problem: .*deployment type zone routes across regions/,
    ],
    [
      'OpenAI’s host of another zone',
      { provider: 'openai', region: '', deployment: 'zone', base_url: 'https://us.api.openai.com/v1' },
      /^fault: .*the host serves the zone us, not eu/,
    ],
    [
      'Vertex’s global location',
      {
        provider: 'vertex',
        region: 'europe-west3',
        base_url: 'https://aiplatform.googleapis.com/v1/projects/p/locations/global/endpoints/openapi',
      },
      /^fault: .*the host promises no place/,
    ],
    [
      'a Bedrock model that is routed over the world',
      {
        provider: 'bedrock',
        region: 'eu-west-3',
        base_url: 'https://bedrock-runtime.eu-west-3.amazonaws.com/openai/v1',
        models: '{ contract-review: global.vendor.model-20260101-v1:0 }',
      },
      /^fault: .*"global\." routes to the whole world/,
    ],
  ])('tells %s', (_, change, expected) => {
    expect(verdict(change)).toMatch(expected);
  });
});
