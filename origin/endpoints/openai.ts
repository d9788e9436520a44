import type { Zone } from '../../shared/zones.ts';
import { bearer, openaiUrl } from './openai-api.ts';
import type { HostPlace, Provider } from './provider-contract.ts';

/**
 * Zones in which OpenAI runs inference behind a host of their own. Its other hosts (`ca.api.openai.com`, …) store
 * there and compute elsewhere, or are not known, so they promise nothing.
 * https://developers.openai.com/api/docs/guides/data-residency. OpenAI's Europe is the EEA and Switzerland:
 * a policy that allows such a deployment (`zone`) trusts it to stay in the EEA part.
 */
const PROCESSING: ReadonlyMap<string, Zone> = new Map([
  ['us.api.openai.com', 'us'],
  ['eu.api.openai.com', 'eu'],
]);

const OWN_HOST = /(?:^|\.)openai\.com$/;

function placeOf({ hostname }: URL): HostPlace | undefined {
  if (!OWN_HOST.test(hostname)) return undefined;
  const zone = PROCESSING.get(hostname);
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
