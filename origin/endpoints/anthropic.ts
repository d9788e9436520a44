import { basePath, withPath } from './openai-api.ts';
import type { HostPlace, Provider } from './provider-contract.ts';
import { observeRegion } from './region-evidence.ts';

/**
 * Anthropic's own host runs where `inference_geo` says, which knows `us` and `global` only:
 * https://platform.claude.com/docs/en/manage-claude/data-residency
 */
const placeOf = (url: URL): HostPlace | undefined =>
  /(?:^|\.)anthropic\.com$/.test(url.hostname) ? { kind: 'zone', zone: 'us' } : undefined;

/**
 * The Anthropic API, at Anthropic or at an engine that speaks it. The base URL may end in `/v1` or leave it
 * out, as both are written in the field.
 */
export const anthropic: Provider = {
  name: 'anthropic',
  api: 'anthropic',
  authorize: ({ credential }) => (credential === undefined ? {} : { 'x-api-key': credential.reveal() }),
  url: ({ baseUrl }, route) => withPath(baseUrl, `${basePath(baseUrl).replace(/\/v1$/, '')}${route}`),
  placeOf,
  observeRegion: (endpoint, header) => observeRegion(anthropic, endpoint, header),
};
