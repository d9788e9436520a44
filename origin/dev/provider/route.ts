import type { Api } from '../../../shared/routes.ts';

/** What the provider can be asked for, by the end of the path: base paths differ from cloud to cloud. */
const ROUTES = [
  { kind: 'chat', method: 'POST', ending: '/chat/completions' },
  { kind: 'completion', method: 'POST', ending: '/completions' },
  { kind: 'response', method: 'POST', ending: '/responses' },
  { kind: 'embedding', method: 'POST', ending: '/embeddings' },
  { kind: 'image', method: 'POST', ending: '/images/generations' },
  { kind: 'speech', method: 'POST', ending: '/audio/speech' },
  { kind: 'transcription', method: 'POST', ending: '/audio/transcriptions' },
  { kind: 'moderation', method: 'POST', ending: '/moderations' },
  { kind: 'token_count', method: 'POST', ending: '/messages/count_tokens' },
  { kind: 'message', method: 'POST', ending: '/messages' },
  { kind: 'models', method: 'GET', ending: '/models' },
] as const;

export type RouteKind = (typeof ROUTES)[number]['kind'];

/** The route of a request, or undefined where the provider has none. */
export const routeOf = (method: string, path: string): RouteKind | undefined =>
  ROUTES.find((route) => route.method === method && path.endsWith(route.ending))?.kind;

/** The API whose envelopes a request is answered in. */
export const spokenApi = (path: string, anthropicVersion: string | undefined): Api =>
  /\/messages(\/|$)/.test(path) || (path.endsWith('/models') && anthropicVersion !== undefined)
    ? 'anthropic'
    : 'openai';
