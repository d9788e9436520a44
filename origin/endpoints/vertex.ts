import { isZone } from '../../shared/zones.ts';
import { bearer, openaiUrl } from './openai-api.ts';
import type { HostPlace, Provider } from './provider-contract.ts';
import { observeRegion } from './region-evidence.ts';

/** `LOCATION-aiplatform…` and `aiplatform.LOCATION.rep…`; without a location it is the global endpoint. */
const HOST = /^(?:([a-z0-9-]+)-)?aiplatform(?:\.([a-z0-9-]+)\.rep)?\.googleapis\.com$/;

/** The location stands in the path as well; where the two differ, neither is a promise. */
const LOCATION = /\/locations\/([^/]+)/;

function placeOf(url: URL): HostPlace | undefined {
  const host = HOST.exec(url.hostname);
  if (host === null) return undefined;
  const named = new Set([host[1], host[2], LOCATION.exec(url.pathname)?.[1]]);
  named.delete(undefined);
  const [location, another] = named;
  if (location === undefined || another !== undefined || location === 'global') return { kind: 'anywhere' };
  return isZone(location) ? { kind: 'zone', zone: location } : { kind: 'region', region: location };
}

/**
 * Google Vertex AI's OpenAI-compatible endpoint of a location, with an access token as bearer:
 * https://docs.cloud.google.com/vertex-ai/generative-ai/docs/start/openai and …/learn/locations
 */
export const vertex: Provider = {
  name: 'vertex',
  api: 'openai',
  authorize: bearer,
  url: openaiUrl,
  placeOf,
  observeRegion: (endpoint, header) => observeRegion(vertex, endpoint, header),
};
