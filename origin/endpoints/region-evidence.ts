import { regionName } from '../../shared/catalogue.ts';
import type { RegionSource } from '../../shared/record.ts';
import { type Endpoint, PROVIDER_NAMES } from './endpoint.ts';
import { providerOf } from './provider.ts';
import type { HeaderReader, ObservedRegion } from './provider-contract.ts';

/** Stands for evidence that is there but cannot be a region name: it matches nothing. */
export const UNREADABLE_REGION = 'unreadable';

/**
 * How Anthropic's `inference_geo` says that nothing is known, as of models from before it:
 * https://platform.claude.com/docs/en/manage-claude/data-residency
 */
const UNSAID = 'not_available';

/** What an answer says of where it was made: its headers, and what its body held at `regionPathsOf`. */
export interface Said {
  readonly header: HeaderReader;
  readonly body: readonly string[];
}

function defined<T>(list: readonly (T | undefined)[]): readonly T[] {
  return [...new Set(list.flatMap((one) => (one === undefined ? [] : [one])))];
}

const PROVIDERS = PROVIDER_NAMES.map(providerOf);

/** Every header by which some provider says where an answer was made. */
const KNOWN_HEADERS = defined(PROVIDERS.map((one) => one.regionHeader));

/** Headers by which an endpoint shows where an answer was made; the provider's own first, which no entry takes away. */
function regionHeadersOf({ provider, baseUrl, regionHeader }: Endpoint): readonly string[] {
  const own = PROVIDERS.filter((one) => one.name === provider || one.isOwnHost?.(baseUrl) === true);
  return defined([...own.map((one) => one.regionHeader), regionHeader]);
}

/** Paths in an answer's JSON that may say where it was made; the provider's own first. */
export const regionPathsOf = ({ baseUrl, regionBody }: Endpoint): readonly (readonly string[])[] =>
  defined([...PROVIDERS.map((one) => one.steering?.(baseUrl)?.regionBody), regionBody]);

/**
 * Where an answer came from, by each piece of evidence that it gives itself, best first; where it gives none,
 * by the host name, else as the registry declares. Empty where there is nothing to go by.
 */
export function observedRegions(endpoint: Endpoint, { header, body }: Said): readonly ObservedRegion[] {
  const inHeader = (name: string) => observed(header(name), 'response_header');
  const shown = regionHeadersOf(endpoint);
  const said: ObservedRegion[] = [
    ...shown.flatMap(inHeader),
    ...body.filter((text) => text !== UNSAID).flatMap((text) => observed(text, 'response_body')),
    // Nobody said that this endpoint has them, so they need not be regions; where they are, they count as well.
    ...KNOWN_HEADERS.filter((name) => !shown.includes(name))
      .flatMap(inHeader)
      .filter(({ region }) => region !== UNREADABLE_REGION),
  ];
  if (said.length > 0) return said;
  const host = hostRegion(endpoint);
  if (host !== undefined) return [{ region: host, source: 'hostname' }];
  const declared = declaredPlace(endpoint);
  return declared === undefined ? [] : [{ region: declared, source: 'declared' }];
}

/** What routes across regions runs in no one of them, whichever its entry names. */
function declaredPlace({ deployment, region, zone }: Endpoint): string | undefined {
  switch (deployment) {
    case 'regional':
      return region;
    case 'zone':
      return zone;
    case 'global':
      return 'global';
  }
}

const observed = (text: string | undefined, source: RegionSource): ObservedRegion[] =>
  text === undefined ? [] : [{ region: regionName(text) ?? UNREADABLE_REGION, source }];

/** The best grade of evidence that an endpoint can give; undefined where it has no region to speak of. */
export function bestEvidence(endpoint: Endpoint): RegionSource | undefined {
  const byHead = bestEvidenceOfHead(endpoint);
  return byHead === 'response_header' || regionPathsOf(endpoint).length === 0 ? byHead : 'response_body';
}

/** The same for an answer whose body has no room for evidence. */
export function bestEvidenceOfHead(endpoint: Endpoint): RegionSource | undefined {
  if (regionHeadersOf(endpoint).length > 0) return 'response_header';
  if (hostRegion(endpoint) !== undefined) return 'hostname';
  return endpoint.region === undefined ? undefined : 'declared';
}

/** A host name proves nothing of a deployment that routes across regions: it is only where the call went in. */
function hostRegion({ provider, deployment, baseUrl }: Endpoint): string | undefined {
  if (deployment !== 'regional') return undefined;
  const place = providerOf(provider).placeOf(baseUrl);
  return place?.kind === 'region' ? place.region : undefined;
}
