import { describe, expect, it } from 'vitest';
import { checkEndpoint } from '../../../origin/endpoints/check.ts';
import { abroad } from '../../../origin/endpoints/location.ts';
import { endpointEntrySchema } from '../../../origin/endpoints/registry.ts';
import { cloudRegion } from '../../../shared/catalogue.ts';
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
    expect(openai('gb.api.openai.com', 'zone')).toContain('promises no place');
  });

  it('keeps Anthropic’s own host to us, and lets an engine that speaks its API stand anywhere', () => {
    const anthropic = (base_url: string, country: string, zone: Zone) =>
      findings({ provider: 'anthropic', region: 'own-1', country, base_url }, zone);
    expect(anthropic('https://api.anthropic.com', 'DE', 'eu')).toContain('serves the zone us, not eu');
    expect(anthropic('https://api.anthropic.com.', 'DE', 'eu')).toContain('serves the zone us, not eu');
    expect(anthropic('https://api.anthropic.com', 'US', 'us')).toBe('');
    expect(anthropic('http://127.0.0.1:8000', 'DE', 'eu')).toBe('');
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
