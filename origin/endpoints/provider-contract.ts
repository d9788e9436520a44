import type { RegionSource } from '../../shared/record.ts';
import type { Api, ModelRoute } from '../../shared/routes.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Endpoint, Pin, ProviderName } from './endpoint.ts';
import type { ServiceAccount } from './service-account.ts';

/** Reads a response header by its lower-case name. */
export type HeaderReader = (name: string) => string | undefined;

/** Where an answer came from, and how good the evidence for it is. */
export interface ObservedRegion {
  /** One region, or as coarse as some providers say it: a zone tag, or `global`. */
  readonly region: string;
  readonly source: RegionSource;
}

/** What a provider's own host name promises: one region, some region of a zone, or nothing. */
export type HostPlace =
  | { readonly kind: 'region'; readonly region: string }
  | { readonly kind: 'zone'; readonly zone: Zone }
  | { readonly kind: 'anywhere' };

/** How a provider's own host is told where to run, and where its answers say that it did. */
export interface Steering {
  readonly pin: Pin;
  readonly regionBody: readonly string[];
}

/**
 * Access tokens of service accounts. It MUST NOT ask for a token again while one of the same key will do, MUST
 * be bounded in time, and rejects with NoCredential.
 */
export interface AccessTokens {
  of(account: ServiceAccount): Promise<string>;
}

/** Which texts are meant to be a key file, and in words what is wrong with one. */
export interface KeyFileForm {
  is(text: string): boolean;
  fault(text: string): string | undefined;
}

export type Credential = Readonly<Record<string, string>>;

/** How one kind of endpoint is called, and where it says that it ran. */
export interface Provider {
  readonly name: ProviderName;
  readonly api: Api;
  /**
   * The endpoint's own credential as headers; empty where it has none. For the upstream alone: never log it.
   * Rejects as `tokens` does.
   */
  authorize(endpoint: Endpoint, tokens: AccessTokens): Credential | Promise<Credential>;
  /** Where a call of a route goes. */
  url(endpoint: Endpoint, route: ModelRoute['path']): URL;
  /** The form of a key file that the credential may be instead of something that is sent as it stands. */
  readonly keyFile?: KeyFileForm;
  /**
   * Response header in which the provider says where it ran, if it has one of its own: read of each entry of its
   * name, and at its own hosts whatever an entry calls itself.
   */
  readonly regionHeader?: string;
  /** Whether a host is one of the provider's own. */
  isOwnHost?(url: URL): boolean;
  /** Undefined for any other host than one of the provider's own. */
  steering?(url: URL): Steering | undefined;
  /** What the host name and path promise by the provider's documentation; undefined for any other host. */
  placeOf(url: URL): HostPlace | undefined;
}
