import { regionsInHost } from '../../shared/catalogue.ts';
import type { Zone } from '../../shared/zones.ts';
import { type Endpoint, PROVIDER_NAMES } from './endpoint.ts';
import type { Finding } from './finding.ts';
import { providerOf } from './provider.ts';
import { locationsIn } from './vertex.ts';

/** All of them are asked, whatever the entry calls itself, as hosts do not lie about whose they are. */
const PROVIDERS = PROVIDER_NAMES.map(providerOf);

/** What of an entry's base URL is of another place than the entry, or promises none. */
export function checkHost(endpoint: Endpoint, zone: Zone): readonly Finding[] {
  const message = steeredByAnother(endpoint) ?? disagreement(endpoint, zone) ?? otherLocation(endpoint);
  return message === undefined ? [] : [{ path: ['base_url'], message }];
}

/** A host that each request tells where to run keeps its promise for the provider alone that does so. */
function steeredByAnother({ baseUrl, provider }: Endpoint): string | undefined {
  const owner = PROVIDERS.find(({ steering }) => steering?.(baseUrl) !== undefined);
  if (owner === undefined || owner.name === provider) return undefined;
  return `the host runs where each request says, which only the provider "${owner.name}" sees to`;
}

function disagreement({ baseUrl, region, deployment, provider }: Endpoint, zone: Zone): string | undefined {
  const [promised] = PROVIDERS.flatMap((one) => one.placeOf(baseUrl) ?? []);
  switch (promised?.kind) {
    case 'anywhere':
      return deployment === 'global'
        ? undefined
        : 'the host promises no place, so the deployment is "global": use the host of a region or zone, and the same one in its path';
    case 'zone':
      if (promised.zone !== zone) return `the host serves the zone ${promised.zone}, not ${zone}`;
      // Anthropic's host is told the place by the request itself, so its deployment is what is asked for.
      if (deployment !== 'regional' || provider === 'anthropic') return undefined;
      return `the host serves any region of ${promised.zone}, so the deployment is "zone"`;
    case 'region':
      return differs('host', [promised.region], region);
    case undefined:
      return differs(
        'host',
        regionsInHost(baseUrl.hostname).map((named) => named.region),
        region,
      );
  }
}

/** The location in Vertex's paths counts at hosts that are not Google's as well, such as one's own in front of it. */
function otherLocation({ baseUrl, region, deployment, provider, zone }: Endpoint): string | undefined {
  if (provider !== 'vertex' || deployment === 'global') return undefined;
  const locations = locationsIn(baseUrl);
  if (locations === undefined) return 'the path cannot be read: write it without percent signs';
  const [only, another] = locations;
  if (another !== undefined) return 'the path names more than one location: leave one';
  if (only === undefined || (deployment === 'zone' && only === zone)) return undefined;
  return differs('path', [only], region);
}

function differs(what: string, named: readonly string[], region: string | undefined): string | undefined {
  const other = named.find((one) => one !== region);
  return other === undefined
    ? undefined
    : `the ${what} is in ${other}, the entry says ${region ?? 'no region'}: make them agree`;
}
