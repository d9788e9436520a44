import { anthropic } from './anthropic.ts';
import { azureOpenai } from './azure-openai.ts';
import { bedrock } from './bedrock.ts';
import type { ProviderName } from './endpoint.ts';
import { openai } from './openai.ts';
import { openaiCompatible } from './openai-compatible.ts';
import type { Provider } from './provider-contract.ts';
import { vertex } from './vertex.ts';

export type {
  AccessTokens,
  Credential,
  HeaderReader,
  HostPlace,
  KeyFileForm,
  ObservedRegion,
  Provider,
} from './provider-contract.ts';

/** The provider of that name. */
export function providerOf(name: ProviderName): Provider {
  switch (name) {
    case 'openai':
      return openai;
    case 'azure-openai':
      return azureOpenai;
    case 'anthropic':
      return anthropic;
    case 'bedrock':
      return bedrock;
    case 'vertex':
      return vertex;
    case 'openai-compatible':
      return openaiCompatible;
  }
}
