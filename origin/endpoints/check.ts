import { type Cloud, cloudRegion, regionInHost } from '../../shared/catalogue.ts';
import type { Zone } from '../../shared/zones.ts';
import { checkBedrockModel } from './bedrock-models.ts';
import type { Endpoint, ProviderName } from './endpoint.ts';
import { providerOf } from './provider.ts';

/** Something wrong with one entry of the registry: where in the entry, and what to do. */
export interface Finding {
  readonly path: readonly string[];
  readonly message: string;
}

const CLOUD_OF: Readonly<Partial<Record<ProviderName, Cloud>>> = {
  bedrock: 'aws',
  'azure-openai': 'azure',
  vertex: 'gcp',
};

/**
 * Everything in which an entry contradicts itself about where it is. An entry without any region or country
 * passes: it is no candidate for anyone. So does one that is in another zone: the graphs that name it are told.
 *
 * @param declaredCountry the country as the entry itself gives it
 */
export const checkEndpoint = (
  endpoint: Endpoint,
  declaredCountry: string | undefined,
  zone: Zone,
): readonly Finding[] => [
  ...region(endpoint, declaredCountry),
  ...hostAgrees(endpoint, zone),
  ...models(endpoint),
];

function region({ region, provider }: Endpoint, declaredCountry: string | undefined): Finding[] {
  if (region === undefined) return [];
  const known = cloudRegion(region);
  if (known === undefined) {
    if (declaredCountry !== undefined) return [];
    const message = `${region} is not in the catalogue of cloud regions: for a facility of your own add "country:"`;
    return [{ path: ['region'], message }];
  }
  const findings: Finding[] = [];
  const cloud = CLOUD_OF[provider];
  if (cloud !== undefined && known.cloud !== cloud) {
    findings.push({ path: ['region'], message: `${region} is a region of ${known.cloud}, not of ${cloud}` });
  }
  if (declaredCountry !== undefined && declaredCountry !== known.country) {
    const message = `${region} is ${known.city} in ${known.country}, not in ${declaredCountry}`;
    findings.push({ path: ['country'], message });
  }
  return findings;
}

function hostAgrees(endpoint: Endpoint, zone: Zone): Finding[] {
  const { baseUrl, region, deployment, provider } = endpoint;
  const finding = (message: string): Finding[] => [{ path: ['base_url'], message }];
  const promised = PROMISES.map((name) => providerOf(name).placeOf(baseUrl)).find(
    (found) => found !== undefined,
  );
  switch (promised?.kind) {
    case 'anywhere':
      return deployment === 'global'
        ? []
        : finding(
            'the host promises no place, so the deployment is "global": use the host of a region or zone',
          );
    case 'zone':
      return zoneHost(promised.zone);
    case 'region':
      return promised.region === region ? [] : finding(disagrees(promised.region));
    case undefined: {
      const named = regionInHost(baseUrl.hostname);
      return named === undefined || named.region === region ? [] : finding(disagrees(named.region));
    }
  }

  function zoneHost(hostZone: Zone): Finding[] {
    if (hostZone !== zone) return finding(`the host serves the zone ${hostZone}, not ${zone}`);
    // Anthropic's host is told the place by the request itself, so its deployment is what is asked for.
    if (deployment !== 'regional' || provider === 'anthropic') return [];
    return finding(`the host serves any region of ${hostZone}, so the deployment is "zone"`);
  }

  function disagrees(named: string): string {
    return `the host is in ${named}, the entry says ${region ?? 'no region'}: make them agree`;
  }
}

/** Providers whose hosts are known; asked whatever the entry calls itself, as hosts do not lie about it. */
const PROMISES: readonly ProviderName[] = ['openai', 'azure-openai', 'anthropic', 'bedrock', 'vertex'];

function models(endpoint: Endpoint): Finding[] {
  const bedrock =
    endpoint.provider === 'bedrock' || /\.(?:amazonaws\.com|api\.aws)$/.test(endpoint.baseUrl.hostname);
  if (!bedrock) return [];
  return Object.entries(endpoint.models).flatMap(([workload, model]) =>
    checkBedrockModel(model, endpoint).map((message) => ({ path: ['models', workload], message })),
  );
}
