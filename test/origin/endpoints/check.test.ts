import { describe, expect, it } from 'vitest';
import { checkEndpoint } from '../../../origin/endpoints/check.ts';
import { endpointEntrySchema } from '../../../origin/endpoints/registry.ts';
import { cloudRegion } from '../../../shared/catalogue.ts';
import { abroad } from '../../../shared/narrowing.ts';
import catalogue from '../../../shared/regions.json' with { type: 'json' };
import { type Zone, zoneOfCountry } from '../../../shared/zones.ts';
import { endpoint } from './endpoints.ts';

function findings(entry: Record<string, unknown>, zone: Zone = 'eu'): string {
  const { country } = entry;
  return checkEndpoint(endpoint(entry), typeof country === 'string' ? country : undefined, zone)
    .map(({ path, message }) => `${path.join('.')}: ${message}`)
    .join('\n');
}

/** Why an endpoint is never a candidate in a zone. */
const outside = (entry: Record<string, unknown>, zone: Zone = 'eu'): string =>
  abroad(endpoint(entry), zone) ?? '';

const PROVIDER_OF: Record<string, string> = { aws: 'bedrock', azure: 'azure-openai', gcp: 'vertex' };

describe('a region is in a zone by its country, whatever its name', () => {
  it('tells London from the European Union, with its country', () => {
    expect(outside({ region: 'eu-west-2' })).toBe('London (eu-west-2) is in GB, zone uk, not eu');
    expect(outside({ region: 'eu-central-2' })).toContain('Zurich (eu-central-2) is in CH, zone ch, not eu');
  });

  it.each(catalogue.traps)('puts %s %s into the zone of its country alone', (cloud = '', region = '') => {
    const base = { provider: PROVIDER_OF[cloud], region };
    const zone = zoneOfCountry(cloudRegion(region)?.country ?? '');
    if (zone !== undefined) expect(outside(base, zone)).toBe('');
    if (zone !== 'eu') expect(outside(base)).toMatch(/^.* is in [A-Z]{2}, .*, not eu/);
  });

  it('refuses a region of another cloud, and a country that is not the region’s', () => {
    expect(findings({ region: 'francecentral' })).toContain('francecentral is a region of azure, not of aws');
    expect(findings({ region: 'eu-west-2', country: 'IE' })).toContain(
      'eu-west-2 is London in GB, not in IE',
    );
  });

  it('needs a country for a facility of one’s own, and believes it', () => {
    const own = { provider: 'openai-compatible', region: 'customer-dc-1' };
    expect(findings(own)).toContain('for a facility of your own add "country:"');
    expect(findings({ ...own, country: 'DE' })).toBe('');
    expect(outside({ ...own, country: 'US' })).toContain('customer-dc-1 is in US, zone us, not eu');
    expect(outside({ ...own, country: 'ZA' })).toContain('in no zone, not eu');
  });
});

describe('a label of one’s own', () => {
  const label = (region: string, more: Record<string, unknown> = {}) =>
    findings({ provider: 'openai-compatible', region, country: 'DE', ...more });

  it('is no word by which an answer names no region', () => {
    for (const word of ['global', 'unreadable', 'Unreadable', 'eu', 'us', 'uk', 'ch']) {
      expect(label(word), word).toContain('a word by which answers name no region');
    }
  });

  it('does not look like a cloud’s region that the catalogue leaves out', () => {
    for (const name of ['eu-west-2a', 'eu-west-l', 'us-east-9', 'cn-north-1', 'usgovvirginia', 'uk-south']) {
      expect(label(name), name).toContain('looks like one');
    }
  });

  it('is none of a provider that runs in its own cloud’s regions alone', () => {
    for (const provider of ['bedrock', 'azure-openai', 'vertex']) {
      expect(label('frankfurt-lab', { provider })).toContain('this provider runs in regions of');
    }
    for (const provider of ['openai', 'anthropic', 'openai-compatible']) {
      expect(label('frankfurt-lab', { provider })).toBe('');
    }
  });
});

describe('a host name that disagrees', () => {
  const bedrock = (host: string, region = 'eu-central-1') =>
    findings({ region, base_url: `https://${host}/openai/v1` });

  it('is refused for each form of Bedrock’s hosts', () => {
    for (const host of [
      'bedrock-runtime.us-east-1.amazonaws.com',
      'bedrock-runtime-fips.us-east-1.amazonaws.com',
      'vpce-0a1-2b.bedrock-runtime.us-east-1.vpce.amazonaws.com',
      'bedrock-mantle.us-east-1.api.aws',
      'BEDROCK-RUNTIME.US-EAST-1.amazonaws.com',
      'bedrock-runtime.us-east-1.amazonaws.com.',
    ]) {
      expect(bedrock(host)).toContain('base_url: the host is in us-east-1, the entry says eu-central-1');
    }
    expect(bedrock('bedrock-runtime.eu-central-1.amazonaws.com')).toBe('');
  });

  it('is refused whatever provider the entry claims to be, and for one’s own names', () => {
    const own = { provider: 'openai-compatible', region: 'own-1', country: 'DE' };
    expect(findings({ ...own, base_url: 'https://bedrock-runtime.us-east-1.amazonaws.com/v1' })).toContain(
      'in us-east-1',
    );
    expect(findings({ ...own, base_url: 'https://vllm-us-east-1.example/v1' })).toContain('in us-east-1');
    expect(findings({ ...own, base_url: 'https://api.openai.com/v1' })).toContain('promises no place');
  });

  it('is refused where it names two regions, in whichever order', () => {
    const proxy = (host: string) =>
      findings({ provider: 'openai-compatible', base_url: `https://${host}/v1` });
    for (const host of [
      'us-east-1.proxy.eu-central-1.amazonaws.com',
      'eu-central-1.proxy.us-east-1.amazonaws.com',
    ]) {
      expect(proxy(host)).toContain('the host is in us-east-1, the entry says eu-central-1');
    }
    expect(proxy('eu-central-1.proxy.eu-central-1.amazonaws.com')).toBe('');
  });

  it('is refused for Vertex’s global endpoint, in the host and in the path', () => {
    const vertex = (base_url: string) => findings({ provider: 'vertex', region: 'europe-west3', base_url });
    const path = (location: string) => `/v1/projects/p/locations/${location}/endpoints/openapi`;
    expect(vertex(`https://aiplatform.googleapis.com${path('global')}`)).toContain('promises no place');
    expect(vertex(`https://europe-west3-aiplatform.googleapis.com${path('global')}`)).toContain(
      'promises no place',
    );
    for (const [host, location] of [
      ['europe-west3', 'us-east4'],
      ['us-east4', 'europe-west3'],
    ] as const) {
      const url = `https://${host}-aiplatform.googleapis.com${path(location)}`;
      expect(vertex(url)).toContain('promises no place');
    }
    const iowa = `https://us-central1-aiplatform.googleapis.com${path('us-central1')}`;
    expect(vertex(iowa)).toContain('is in us-central1');
    expect(vertex(`https://aiplatform.eu.rep.googleapis.com${path('eu')}`)).toContain(
      'the deployment is "zone"',
    );
    expect(vertex(`https://europe-west3-aiplatform.googleapis.com${path('europe-west3')}`)).toBe('');
  });

  it('is refused for every host of Google’s that names no location, whatever its path names', () => {
    const path = '/v1/projects/p/locations/europe-west3/endpoints/openapi';
    for (const host of [
      ...['aiplatform', 'aiplatform.mtls', 'aiplatform-psc.p', 'private', 'restricted', 'generativelanguage'],
      ...['europe-west3-aiplatform.mtls', 'europe-west3-aiplatform.us.rep', 'europe-west3-discoveryengine'],
    ]) {
      for (const provider of ['vertex', 'openai-compatible']) {
        const base_url = `https://${host}.googleapis.com${path}`;
        expect(findings({ provider, region: 'europe-west3', base_url }), host).toContain('promises no place');
      }
    }
  });

  it('is refused for a path of Vertex’s that names another location, or hides which', () => {
    const at = (host: string, path: string) =>
      findings({
        provider: 'vertex',
        region: 'europe-west3',
        base_url: `https://${host}/v1/projects/p/${path}`,
      });
    const paths = [
      'endpoints/openapi',
      'locations/us-central1/endpoints/openapi',
      '%6cocations/us-central1/endpoints/openapi',
      'Locations/us-central1/endpoints/openapi',
      'locations/europe-west3/locations/us-central1/endpoints/openapi',
      'locations/europe-west3%2flocations%2fus-central1/endpoints/openapi',
      'locations%252fus-central1/locations/europe-west3/endpoints/openapi',
      'locations/us-central%311/endpoints/openapi',
      'locations/%zz/endpoints/openapi',
    ];
    for (const path of paths) {
      expect(at('europe-west3-aiplatform.googleapis.com', path), path).toContain('promises no place');
    }
    const [without, ...others] = paths;
    for (const path of others) expect(at('vertex.example', path), path).toContain('base_url: the path');
    expect(at('vertex.example', without ?? '')).toBe('');
    expect(at('vertex.example', 'locations/europe%2Dwest3/endpoints/openapi')).toBe('');
  });

  it('keeps OpenAI’s hosts to the zones they compute in', () => {
    const openai = (host: string, deployment: string, zone: Zone = 'eu') =>
      findings(
        {
          provider: 'openai',
          region: 'openai',
          country: zone === 'eu' ? 'DE' : 'US',
          deployment,
          base_url: `https://${host}/v1`,
        },
        zone,
      );
    expect(openai('eu.api.openai.com', 'zone')).toBe('');
    expect(openai('eu.api.openai.com', 'regional')).toContain('the deployment is "zone"');
    expect(openai('us.api.openai.com', 'zone')).toContain('serves the zone us, not eu');
    expect(openai('us.api.openai.com', 'zone', 'us')).toBe('');
    expect(openai('api.openai.com', 'zone', 'us')).toContain('promises no place');
    for (const host of ['gb', 'x', 'a-b', 'a.eu', 'eu1']) {
      expect(openai(`${host}.api.openai.com`, 'zone'), host).toContain('promises no place');
    }
    expect(openai('eu.openai.com', 'zone')).toContain('promises no place');
  });

  it('keeps Anthropic’s own host to us, and lets an engine that speaks its API stand anywhere', () => {
    const anthropic = (base_url: string, country: string, zone: Zone) =>
      findings({ provider: 'anthropic', region: 'own-1', country, base_url }, zone);
    expect(anthropic('https://api.anthropic.com', 'DE', 'eu')).toContain('serves the zone us, not eu');
    expect(anthropic('https://api.anthropic.com.', 'DE', 'eu')).toContain('serves the zone us, not eu');
    expect(anthropic('https://api.anthropic.com', 'US', 'us')).toBe('');
    expect(anthropic('http://127.0.0.1:8000', 'DE', 'eu')).toBe('');
  });

  it('keeps Anthropic’s own host to the provider that tells it where to run', () => {
    for (const provider of ['openai', 'openai-compatible', 'azure-openai', 'bedrock', 'vertex']) {
      for (const deployment of ['regional', 'zone', 'global']) {
        const base_url = 'https://api.anthropic.com/v1';
        const entry = { provider, region: 'us-east-1', deployment, base_url };
        expect(findings(entry, 'us')).toContain('which only the provider "anthropic" sees to');
      }
    }
  });
});

describe('a Bedrock model id', () => {
  const model = (id: string, entry: Record<string, unknown> = {}, zone: Zone = 'eu') =>
    findings({ models: { chat: id }, ...entry }, zone);
  const arn = (region: string, rest: string) => `arn:aws:bedrock:${region}:123456789012:${rest}`;

  it('passes without a prefix', () => {
    expect(model('anthropic.claude-x-20260101-v1:0')).toBe('');
    expect(model(arn('eu-central-1', 'foundation-model/anthropic.claude-x'))).toBe('');
  });

  it('with a prefix needs deployment: zone', () => {
    expect(model('eu.anthropic.claude-x')).toContain('declare "deployment: zone"');
    expect(model('EU.anthropic.claude-x')).toContain('declare "deployment: zone"');
    expect(model('eu.anthropic.claude-x', { deployment: 'zone' })).toBe('');
    expect(model(arn('eu-central-1', 'inference-profile/eu.anthropic.claude-x'))).toContain(
      'declare "deployment: zone"',
    );
  });

  it('with the prefix of another zone is refused, zone deployment or not', () => {
    for (const prefix of ['us', 'jp', 'au', 'us-gov', 'apac', 'amer', 'global']) {
      for (const deployment of ['regional', 'zone']) {
        expect(model(`${prefix}.anthropic.claude-x`, { deployment })).toContain(`"${prefix}." routes`);
      }
    }
    expect(model('au.anthropic.claude-x', { region: 'ap-southeast-2', deployment: 'zone' }, 'au')).toBe('');
    expect(
      model('apac.anthropic.claude-x', { region: 'ap-southeast-2', deployment: 'zone' }, 'au'),
    ).toContain('several zones');
  });

  it('is refused as the ARN of another region, or of a profile that hides its routes', () => {
    expect(model(arn('us-east-1', 'foundation-model/anthropic.claude-x'))).toContain('is of us-east-1');
    expect(model(arn('eu-central-1', 'application-inference-profile/abc'))).toContain(
      'hides where it routes',
    );
    expect(model('arn:aws:iam::1:role/x')).toContain('not of a Bedrock model');
  });

  it('is refused where its own form hides where it routes', () => {
    const kinds = [
      'prompt-router/ab12',
      'default-prompt-router/anthropic.claude:1',
      'prompt/ABCDEFGHIJ:1',
      'async-invoke/abc',
    ];
    for (const kind of kinds)
      expect(model(arn('eu-central-1', kind)), kind).toContain('hides where it routes');
    for (const id of [
      ...['9fxj2abc1234', 'arn%3Aaws%3Abedrock%3Aus-east-1%3A%3Ainference-profile%2Fus.x'],
      ...[
        'us%2eanthropic.claude-x',
        'bedrock/us.anthropic.claude-x',
        'anthropic.',
        '.anthropic',
        'eu.claude',
      ],
      ...['emea', 'uk', 'sa', 'in', 'ch', 'latam', 'us-east-1', 'anthropics'].map(
        (one) => `${one}.anthropic.x`,
      ),
    ]) {
      for (const deployment of ['regional', 'zone']) {
        expect(model(id, { deployment }), id).not.toBe('');
      }
    }
    const profile = (region: string) => model(arn(region, 'inference-profile/us.anthropic.x'));
    expect(profile('')).toContain('is of no region');
    expect(profile('eu-central-1')).toMatch(/"us\." routes inside us, .*: write "anthropic\.x" to stay/);
  });

  it('passes for a model of one’s own that stands in the region', () => {
    for (const kind of ['provisioned-model', 'custom-model', 'custom-model-deployment', 'imported-model']) {
      expect(model(arn('eu-central-1', `${kind}/abc123`)), kind).toBe('');
      expect(model(arn('us-east-1', `${kind}/abc123`)), kind).toContain('is of us-east-1');
    }
  });

  it('is looked for in the ids of every other provider, which may hand them on', () => {
    const elsewhere = (id: string, more = {}) =>
      model(id, { provider: 'openai-compatible', base_url: 'https://litellm.example/v1', ...more });
    for (const id of [
      ...['us.anthropic.claude-x', 'bedrock/us.anthropic.claude-x', 'us%2eanthropic.claude-x'],
      ...['emea.anthropic.claude-x', 'global.amazon.nova-x', 'bedrock/us-east-1/anthropic.claude-x'],
      arn('us-east-1', 'foundation-model/anthropic.claude-x'),
      `bedrock/${arn('eu-central-1', 'application-inference-profile/x')}`,
    ]) {
      expect(elsewhere(id), id).not.toBe('');
    }
    for (const id of ['bedrock/eu-central-1/anthropic.claude-x', 'llama3.2:3b', 'org/model-7b', 'gpt-4.1']) {
      expect(elsewhere(id), id).toBe('');
    }
    expect(elsewhere('bedrock/eu.anthropic.claude-x', { deployment: 'zone' })).toBe('');
    const sovereign = 'https://bedrock-runtime.eusc-de-east-1.amazonaws.eu/openai/v1';
    expect(
      model('us.anthropic.x', { provider: 'openai', region: 'eusc-de-east-1', base_url: sovereign }),
    ).toContain('"us." routes');
  });

  it('is checked at Bedrock’s hosts under every provider name', () => {
    const entry = {
      provider: 'openai-compatible',
      base_url: 'https://bedrock-runtime.eu-central-1.amazonaws.com/openai/v1',
    };
    expect(model('eu.anthropic.claude-x', entry)).toContain('declare "deployment: zone"');
  });
});

describe('a base URL', () => {
  const accepted = (base_url: string) => endpointEntrySchema.shape.base_url.safeParse(base_url).success;

  it('is https, or http on this machine', () => {
    for (const url of [
      'https://a.example/v1',
      'http://127.0.0.1:1/v1',
      'http://localhost:1',
      'http://[::1]:1/v1',
    ]) {
      expect(accepted(url)).toBe(true);
    }
    for (const url of [
      'http://10.0.0.1/v1',
      'http://localhost.evil.example',
      'http://127.0.0.1.evil.example',
      'ftp://a',
      'file:///etc/passwd',
      '//a',
      '',
      'a',
    ]) {
      expect(accepted(url)).toBe(false);
    }
  });

  it('holds no credentials, query or fragment', () => {
    for (const url of [
      'https://u:p@a.example',
      'https://u@a.example',
      'https://a.example?k=1',
      'https://a.example#x',
    ]) {
      expect(accepted(url)).toBe(false);
    }
  });
});
