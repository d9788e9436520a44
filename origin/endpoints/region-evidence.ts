import { regionName } from '../../shared/catalogue.ts';
import type { RegionSource } from '../../shared/record.ts';
import type { Endpoint } from './endpoint.ts';
import type { HeaderReader, HostPlace, ObservedRegion } from './provider-contract.ts';

/** Stands for evidence that is there but cannot be a region name: it matches nothing. */
export const UNREADABLE_REGION = 'unreadable';

/**
 * How Anthropic's `inference_geo` says that nothing is known, as of models from before it:
 * https://platform.claude.com/docs/en/manage-claude/data-residency
 */
const UNSAID = 'not_available';

interface Sources {
  readonly regionHeader?: string;
  placeOf(url: URL): HostPlace | undefined;
}

/** What an answer says of where it was made: its headers, and what its body held at the endpoint's `regionBody`. */
export interface Said {
  readonly header: HeaderReader;
  readonly body: readonly string[];
}

/**
 * Where an answer came from, by each piece of evidence that it gives itself, best first; where it gives none,
 * by the host name, else as the registry declares. Empty where there is nothing to go by.
 */
export function observedRegions(
  sources: Sources,
  endpoint: Endpoint,
  { header, body }: Said,
): readonly ObservedRegion[] {
  const name = headerOf(sources, endpoint);
  const said: ObservedRegion[] = [
    ...observed(name === undefined ? undefined : header(name), 'response_header'),
    ...body.filter((text) => text !== UNSAID).flatMap((text) => observed(text, 'response_body')),
  ];
  if (said.length > 0) return said;
  const region = hostRegion(sources, endpoint);
  if (region !== undefined) return [{ region, source: 'hostname' }];
  return endpoint.region === undefined ? [] : [{ region: endpoint.region, source: 'declared' }];
}

const observed = (text: string | undefined, source: RegionSource): ObservedRegion[] =>
  text === undefined ? [] : [{ region: regionName(text) ?? UNREADABLE_REGION, source }];

/** The best grade of evidence that an endpoint can give; undefined where it has no region to speak of. */
export function bestEvidence(sources: Sources, endpoint: Endpoint): RegionSource | undefined {
  if (headerOf(sources, endpoint) !== undefined) return 'response_header';
  if (endpoint.regionBody !== undefined) return 'response_body';
  return withoutAnswer(sources, endpoint);
}

/** The same for an answer whose body has no room for evidence. */
export const bestEvidenceOfHead = (sources: Sources, endpoint: Endpoint): RegionSource | undefined =>
  headerOf(sources, endpoint) === undefined ? withoutAnswer(sources, endpoint) : 'response_header';

function withoutAnswer(sources: Sources, endpoint: Endpoint): RegionSource | undefined {
  if (hostRegion(sources, endpoint) !== undefined) return 'hostname';
  return endpoint.region === undefined ? undefined : 'declared';
}

const headerOf = (sources: Sources, endpoint: Endpoint): string | undefined =>
  endpoint.regionHeader ?? sources.regionHeader;

/** A host name proves nothing of a deployment that routes across regions: it is only where the call went in. */
function hostRegion(sources: Sources, endpoint: Endpoint): string | undefined {
  if (endpoint.deployment !== 'regional') return undefined;
  const place = sources.placeOf(endpoint.baseUrl);
  return place?.kind === 'region' ? place.region : undefined;
}
