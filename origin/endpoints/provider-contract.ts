import type { RegionSource } from '../../shared/record.ts';
import type { Api, ModelRoute } from '../../shared/routes.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Endpoint, ProviderName } from './endpoint.ts';

/** Reads a response header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Where an answer came from, and how good the evidence for it is. */
export interface ObservedRegion {
  readonly region: string;
  readonly source: RegionSource;
}

/** What a provider's own host name promises: one region, some region of a zone, or nothing. */
export type HostPlace =
  | { readonly kind: 'region'; readonly region: string }
  | { readonly kind: 'zone'; readonly zone: Zone }
  | { readonly kind: 'anywhere' };

/** How one kind of endpoint is called, and where it says that it ran. */
export interface Provider {
  readonly name: ProviderName;
  readonly api: Api;
  /** The endpoint's own credential as headers; empty where it has none. For the upstream alone: never log it. */
  authorize(endpoint: Endpoint): Record<string, string>;
  /** Where a call of a route goes. */
  url(endpoint: Endpoint, route: ModelRoute['path']): URL;
  /** Response header in which the provider says where it ran, if it has one of its own. */
  readonly regionHeader?: string;
  /** What the host name and path promise by the provider's documentation; undefined for any other host. */
  placeOf(url: URL): HostPlace | undefined;
  /** Where the answer with these headers came from, by the best evidence they and the host name give. */
  observeRegion(endpoint: Endpoint, header: HeaderReader): ObservedRegion | undefined;
}
