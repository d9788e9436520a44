import { regionName } from '../../shared/catalogue.ts';
import type { RegionSource } from '../../shared/record.ts';
import type { Endpoint } from './endpoint.ts';
import type { HeaderReader, HostPlace, ObservedRegion } from './provider-contract.ts';

/** Stands for a header that is there but cannot be a region name: such evidence matches nothing. */
export const UNREADABLE_REGION = 'unreadable';

interface Sources {
  readonly regionHeader?: string;
  placeOf(url: URL): HostPlace | undefined;
}

/** Where an answer came from: by a response header, else by the host name, else as the registry declares. */
export function observeRegion(
  sources: Sources,
  endpoint: Endpoint,
  header: HeaderReader,
): ObservedRegion | undefined {
  const name = headerOf(sources, endpoint);
  const value = name === undefined ? undefined : header(name);
  if (value !== undefined) {
    return { region: regionName(value) ?? UNREADABLE_REGION, source: 'response_header' };
  }
  const region = hostRegion(sources, endpoint);
  if (region !== undefined) return { region, source: 'hostname' };
  return endpoint.region === undefined ? undefined : { region: endpoint.region, source: 'declared' };
}

/** The best grade of evidence that an endpoint can give; undefined where it has no region to speak of. */
export function bestEvidence(sources: Sources, endpoint: Endpoint): RegionSource | undefined {
  if (headerOf(sources, endpoint) !== undefined) return 'response_header';
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
