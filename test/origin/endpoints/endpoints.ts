import type { Endpoint } from '../../../origin/endpoints/endpoint.ts';
import type { AccessTokens } from '../../../origin/endpoints/provider.ts';
import { endpointEntrySchema, endpointOf } from '../../../origin/endpoints/registry.ts';
import { Secret } from '../../../origin/endpoints/secret.ts';

/** An endpoint as the registry makes it from an entry; Frankfurt's Bedrock where the entry says nothing else. */
export function endpoint(entry: Readonly<Record<string, unknown>> = {}, credential?: string): Endpoint {
  const { region = 'eu-central-1', provider = 'bedrock' } = entry;
  const parsed = endpointEntrySchema.parse({
    id: 'one',
    provider,
    region,
    deployment: 'regional',
    base_url:
      provider === 'bedrock'
        ? `https://bedrock-runtime.${String(region)}.amazonaws.com/openai/v1`
        : 'https://model.example/v1',
    models: { chat: 'vendor.model-20260101' },
    ...entry,
  });
  return endpointOf(parsed, credential === undefined ? undefined : new Secret(credential));
}

/** For providers that need none. */
export const noTokens: AccessTokens = { of: () => Promise.reject(new Error('no token was to be asked for')) };
