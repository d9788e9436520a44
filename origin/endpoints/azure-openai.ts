import { openaiUrl } from './openai-api.ts';
import type { HostPlace, Provider } from './provider-contract.ts';

/** The regional host of the cognitive services; a resource's own host does not name its region. */
const REGIONAL_HOST = /^([a-z0-9]+)\.api\.cognitive\.microsoft\.com$/;

/** Hosts of resources, and the regional ones, of Azure's clouds. */
const OWN_HOST =
  /\.(?:(?:openai|cognitiveservices|services\.ai)\.azure\.(?:com|us|cn)|api\.cognitive\.microsoft\.com)$/;

function placeOf(url: URL): HostPlace | undefined {
  const region = REGIONAL_HOST.exec(url.hostname)?.[1];
  return region === undefined ? undefined : { kind: 'region', region };
}

/**
 * Azure OpenAI, v1 API (`https://RESOURCE.openai.azure.com/openai/v1`, key in `api-key`), whose answers say
 * in `x-ms-region` where they were made: https://learn.microsoft.com/azure/ai-foundry/openai/latest
 */
export const azureOpenai: Provider = {
  name: 'azure-openai',
  api: 'openai',
  authorize: ({ credential }) => (credential === undefined ? {} : { 'api-key': credential.reveal() }),
  url: openaiUrl,
  regionHeader: 'x-ms-region',
  isOwnHost: ({ hostname }) => OWN_HOST.test(hostname),
  placeOf,
};
