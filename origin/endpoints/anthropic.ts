import { basePath, withPath } from './openai-api.ts';
import type { Provider } from './provider-contract.ts';

const isOwnHost = ({ hostname }: URL): boolean => /(?:^|\.)anthropic\.com$/.test(hostname);

/**
 * The Anthropic API, at Anthropic or at an engine that speaks it; the key in `x-api-key`:
 * https://platform.claude.com/docs/en/api/overview. The base URL may end in `/v1` or leave it out, as both are
 * written in the field.
 *
 * Anthropic's own host runs where `inference_geo` of the request says, which knows `us` and `global` only, and
 * says in `usage.inference_geo` where it ran; models from before that member refuse it with 400. Other engines
 * do not know it, and one that repeated it would repeat the caller's own words: so it is neither set nor
 * believed there. https://platform.claude.com/docs/en/manage-claude/data-residency
 */
export const anthropic: Provider = {
  name: 'anthropic',
  api: 'anthropic',
  authorize: ({ credential }) => (credential === undefined ? {} : { 'x-api-key': credential.reveal() }),
  url: ({ baseUrl }, route) => withPath(baseUrl, `${basePath(baseUrl).replace(/\/v1$/, '')}${route}`),
  isOwnHost,
  placeOf: (url) => (isOwnHost(url) ? { kind: 'zone', zone: 'us' } : undefined),
  steering: (url) =>
    isOwnHost(url)
      ? {
          pin: { member: 'inference_geo', value: 'us', route: '/v1/messages' },
          regionBody: ['usage', 'inference_geo'],
        }
      : undefined,
};
