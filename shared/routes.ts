/** The two API families a caller can speak. */
export type Api = 'openai' | 'anthropic';

/** What an answer of a route is made of, and so where its model, its usage and its end are to be found. */
export type RouteBody = 'json' | 'multipart' | 'none';

export interface Route {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly api: Api;
  readonly body: RouteBody;
}

/** Routes whose calls go to a model endpoint. */
export const MODEL_ROUTES = [
  { method: 'POST', path: '/v1/chat/completions', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/completions', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/responses', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/embeddings', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/images/generations', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/audio/speech', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/audio/transcriptions', api: 'openai', body: 'multipart' },
  { method: 'POST', path: '/v1/moderations', api: 'openai', body: 'json' },
  { method: 'POST', path: '/v1/messages', api: 'anthropic', body: 'json' },
  { method: 'POST', path: '/v1/messages/count_tokens', api: 'anthropic', body: 'json' },
] as const satisfies readonly Route[];

/** Routes that the origin answers itself. */
export const LOCAL_ROUTES = ['/v1/models', '/v1/receipts'] as const;

export type ModelRoute = (typeof MODEL_ROUTES)[number];
export type RouteName = ModelRoute['path'] | (typeof LOCAL_ROUTES)[number];

/** The path of a request's target, as it was sent: percent-escapes stay, the query goes. */
export const pathOf = (target: string): string => target.split('?', 1)[0] ?? '/';

/**
 * The name of the route that a path belongs to, or undefined. Records carry this name and never the path,
 * since a path is the caller's to choose and could hold anything.
 */
export function routeName(path: string): RouteName | undefined {
  const exact = MODEL_ROUTES.find((route) => route.path === path)?.path;
  return exact ?? LOCAL_ROUTES.find((local) => path === local || path.startsWith(`${local}/`));
}

/**
 * The API a caller speaks, and so the envelope of its errors: by path, and on the paths that both APIs share
 * by the `anthropic-version` header, which Anthropic's SDKs send with every call.
 */
export function apiOf(path: string, anthropicVersion: string | null | undefined): Api {
  if (path === '/v1/messages' || path.startsWith('/v1/messages/')) return 'anthropic';
  if (MODEL_ROUTES.some((route) => route.path === path)) return 'openai';
  return anthropicVersion ? 'anthropic' : 'openai';
}
