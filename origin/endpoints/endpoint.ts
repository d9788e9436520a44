import type { Deployment } from '../../shared/policy.ts';
import type { Api, ModelRoute } from '../../shared/routes.ts';
import type { Zone } from '../../shared/zones.ts';
import type { Secret } from './secret.ts';

export const PROVIDER_NAMES = [
  'openai',
  'azure-openai',
  'anthropic',
  'bedrock',
  'vertex',
  'openai-compatible',
] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

/** Members of a body by which an endpoint can be told where to run. */
export const PIN_MEMBERS = ['inference_geo'] as const;
export type PinMember = (typeof PIN_MEMBERS)[number];

/** A member of a request's JSON by which a provider is told where to run. */
export interface Pin {
  readonly member: PinMember;
  readonly value: string;
  /** The one route that takes it. */
  readonly route: ModelRoute['path'];
}

/** One place that answers model calls, as the registry knows it. */
export interface Endpoint {
  readonly id: string;
  readonly provider: ProviderName;
  /** The API that it speaks. */
  readonly api: Api;
  /** Region label: a cloud's own name for it, or the operator's name for a facility of their own. */
  readonly region?: string;
  /** ISO 3166-1 alpha-2; from the catalogue where the region stands there, else declared. */
  readonly country?: string;
  /** Zone of the country; missing where the country is not known or belongs to no zone. */
  readonly zone?: Zone;
  readonly facility?: string;
  readonly deployment: Deployment;
  readonly baseUrl: URL;
  readonly credential?: Secret;
  /** Response header in which the entry says that it shows where it ran, beside those that its provider has. */
  readonly regionHeader?: string;
  /** The same for a member of an answer's JSON: its path. Read with `regionPathsOf`. */
  readonly regionBody?: readonly string[];
  /** What the origin itself puts into each request, and lets no caller contradict. */
  readonly pin?: Pin;
  /** Workload → the endpoint's own dated model id. Read with `modelOf`. */
  readonly models: Readonly<Record<string, string>>;
  readonly tokensPerMinute?: number;
  /** Output tokens that a probe asks for, where the usual number will not do. */
  readonly probeTokens?: number;
}

/** The endpoint's own id of the model that serves a workload, or undefined where it serves none. */
export const modelOf = (endpoint: Endpoint, workload: string): string | undefined =>
  Object.hasOwn(endpoint.models, workload) ? endpoint.models[workload] : undefined;
