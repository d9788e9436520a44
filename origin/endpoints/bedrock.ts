import { bearer, openaiUrl } from './openai-api.ts';
import type { HostPlace, Provider } from './provider-contract.ts';

/**
 * Public and FIPS hosts, VPC endpoints, and the newer `api.aws` hosts all name their region:
 * https://docs.aws.amazon.com/general/latest/gr/bedrock.html
 */
const HOSTS = [
  /^bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.amazonaws\.(?:com|eu)$/,
  /^vpce-[a-z0-9-]+\.bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\.vpce\.amazonaws\.(?:com|eu)$/,
  /^bedrock-(?:runtime|mantle)(?:-fips)?\.([a-z0-9-]+)\.api\.aws$/,
];

function placeOf(url: URL): HostPlace | undefined {
  const region = HOSTS.map((host) => host.exec(url.hostname)?.[1]).find((found) => found !== undefined);
  return region === undefined ? undefined : { kind: 'region', region };
}

/**
 * Amazon Bedrock's OpenAI-compatible API at a regional runtime host, with a Bedrock API key as bearer:
 * https://docs.aws.amazon.com/bedrock/latest/userguide/inference-chat-completions.html
 */
export const bedrock: Provider = {
  name: 'bedrock',
  api: 'openai',
  authorize: bearer,
  url: openaiUrl,
  placeOf,
};
