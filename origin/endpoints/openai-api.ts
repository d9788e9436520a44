import type { ModelRoute } from '../../shared/routes.ts';
import type { Endpoint } from './endpoint.ts';
import type { Credential } from './provider-contract.ts';

/**
 * The URL of a route at an endpoint of the OpenAI API. Its base URL ends where OpenAI's own ends in `/v1`, so
 * the route's `/v1` is left out (`https://host/openai/v1` + `/chat/completions`).
 */
export const openaiUrl = ({ baseUrl }: Endpoint, route: ModelRoute['path']): URL =>
  withPath(baseUrl, `${basePath(baseUrl)}${route.slice('/v1'.length)}`);

/** The path of a base URL without slashes at its end. */
export const basePath = (baseUrl: URL): string => baseUrl.pathname.replace(/\/+$/, '');

/** A URL with another path: set as a member, so that no path can change the host. */
export function withPath(baseUrl: URL, path: string): URL {
  const url = new URL(baseUrl);
  url.pathname = path;
  return url;
}

/** The credential as `authorization: Bearer`. */
export const bearer = ({ credential }: Endpoint): Credential =>
  credential === undefined ? {} : { authorization: `Bearer ${credential.reveal()}` };
