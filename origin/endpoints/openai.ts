import type { Zone } from '../../shared/zones.ts';
import { bearer, openaiUrl } from './openai-api.ts';
import type { HostPlace, Provider } from './provider-contract.ts';

/**
 * Zones in which OpenAI runs inference behind a host of their own, by the host's prefix. Other prefixes
 * (`ca.`, `gb.`, …) store there and compute elsewhere, so they promise nothing.
 * https://developers.openai.com/api/docs/guides/data-residency. OpenAI's Europe is the EEA and Switzerland:
 * a policy that allows such a deployment (`zone`) trusts it to stay in the EEA part.
 */
const PROCESSING: ReadonlyMap<string, Zone> = new Map([
  ['us', 'us'],
  ['eu', 'eu'],
]);

const HOST = /^(?:([a-z]+)\.)?api\.openai\.com$/;

function placeOf(url: URL): HostPlace | undefined {
  const match = HOST.exec(url.hostname);
  if (match === null) return undefined;
  const zone = PROCESSING.get(match[1] ?? '');
  return zone === undefined ? { kind: 'anywhere' } : { kind: 'zone', zone };
}

/** OpenAI's own API: https://developers.openai.com/api/reference */
export const openai: Provider = {
  name: 'openai',
  api: 'openai',
  authorize: bearer,
  url: openaiUrl,
  placeOf,
};
