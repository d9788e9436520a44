import type { ModelRoute } from '../../shared/routes.ts';
import type { ProviderName } from '../endpoints/endpoint.ts';

/*
 * Names and bucket boundaries of the OpenTelemetry semantic conventions for generative AI metrics
 * (https://github.com/open-telemetry/semantic-conventions-genai/blob/main/docs/gen-ai/gen-ai-metrics.md), in the
 * spelling that OpenTelemetry's Prometheus compatibility gives them: dots become underscores, seconds a suffix.
 */

/** `ExplicitBucketBoundaries` of `gen_ai.client.token.usage`, in tokens. */
export const TOKEN_BUCKETS = Array.from({ length: 14 }, (_, power) => 4 ** power);

/** Of `gen_ai.server.request.duration` and the `gen_ai.client.operation` times, in seconds. */
export const DURATION_BUCKETS = Array.from({ length: 14 }, (_, power) => 2 ** power / 100);

/** Of `gen_ai.server.time_to_first_token`, in seconds. */
export const FIRST_TOKEN_BUCKETS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
];

/** `gen_ai.operation.name` of each route; where no well-known value applies, a name of our own. */
const OPERATIONS: Readonly<Record<ModelRoute['path'], string>> = {
  '/v1/chat/completions': 'chat',
  '/v1/completions': 'text_completion',
  '/v1/responses': 'chat',
  '/v1/embeddings': 'embeddings',
  '/v1/images/generations': 'image_generation',
  '/v1/audio/speech': 'speech',
  '/v1/audio/transcriptions': 'transcription',
  '/v1/moderations': 'moderation',
  '/v1/messages': 'chat',
  '/v1/messages/count_tokens': 'count_tokens',
};

/** `gen_ai.provider.name` of each provider. */
const PROVIDERS: Readonly<Record<ProviderName, string>> = {
  openai: 'openai',
  'azure-openai': 'azure.ai.openai',
  anthropic: 'anthropic',
  bedrock: 'aws.bedrock',
  vertex: 'gcp.vertex_ai',
  'openai-compatible': 'openai-compatible',
};

const isOperation = (route: string): route is keyof typeof OPERATIONS => Object.hasOwn(OPERATIONS, route);
const isProvider = (name: string): name is ProviderName => Object.hasOwn(PROVIDERS, name);

/** The operation of a route, or undefined where it is none of a model's. */
export const operationOf = (route: string | undefined): string | undefined =>
  route !== undefined && isOperation(route) ? OPERATIONS[route] : undefined;

/** The convention's name of a provider; `other` for none that the registry could name. */
export const providerNameOf = (provider: string | undefined): string =>
  provider !== undefined && isProvider(provider) ? PROVIDERS[provider] : 'other';
