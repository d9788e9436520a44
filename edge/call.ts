import { ulid } from 'ulid';
import * as z from 'zod/mini';
import { HEADER } from '../shared/headers.ts';
import { requestIdFrom } from '../shared/request-id.ts';
import { type Api, apiOf } from '../shared/routes.ts';

/** What answers, assertions and reports say of a request, whatever becomes of it. */
export interface Call {
  readonly id: string;
  readonly url: URL;
  readonly method: string;
  readonly api: Api;
  /** The Cloudflare location that took the request, where it is known. */
  readonly colo: string | undefined;
}

const located = z.object({ cf: z.object({ colo: z.string().check(z.regex(/^[A-Z]{3}$/)) }) });

/** The facts of a request that its line, its headers and its place give. */
export function callOf(request: Request): Call {
  const url = new URL(request.url);
  const place = located.safeParse(request);
  return {
    id: requestIdFrom(request.headers.get(HEADER.requestId), ulid),
    url,
    method: request.method,
    api: apiOf(url.pathname, request.headers.get('anthropic-version')),
    colo: place.success ? place.data.cf.colo : undefined,
  };
}
