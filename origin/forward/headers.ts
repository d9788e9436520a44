import type { IncomingHttpHeaders } from 'node:http';
import { HEADER } from '../../shared/headers.ts';
import type { Credential } from '../endpoints/provider.ts';

/** What of a caller's headers goes up to an endpoint; credentials, cookies and all else stay behind. */
const UP = [
  'content-type',
  'accept',
  'anthropic-version',
  'anthropic-beta',
  'openai-beta',
  'idempotency-key',
  'traceparent',
  'user-agent',
] as const;

/** What of an endpoint's headers is passed on to the caller. */
const DOWN = new Set(['content-type', 'retry-after', 'openai-processing-ms']);
const DOWN_PREFIXES = ['x-ratelimit-', 'anthropic-ratelimit-'];

/** Characters of a header value that is passed on at most. */
const VALUE_CHARS = 1_024;

const REQUEST_ID = /^[A-Za-z0-9._:-]{1,128}$/;

/** The headers of one attempt, built anew: the short list from the caller, the credential of the endpoint. */
export function headersUp(caller: IncomingHttpHeaders, credential: Credential): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const name of UP) {
    const value = caller[name];
    if (typeof value === 'string') headers[name] = value;
  }
  return { ...headers, ...credential };
}

/**
 * The headers of an answer that reach the caller. `content-length` is kept where the body is passed on as it
 * came, since it is what shows a caller behind the edge that an answer was cut.
 *
 * @param changed whether other bytes go down than came: decoded, or a stream that ends as it should have
 */
export function headersDown(upstream: IncomingHttpHeaders, changed: boolean): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(upstream)) {
    if (typeof value !== 'string' || value.length > VALUE_CHARS) continue;
    if (DOWN.has(name) || DOWN_PREFIXES.some((prefix) => name.startsWith(prefix))) headers[name] = value;
  }
  const length = upstream['content-length'];
  if (!changed && length !== undefined && /^\d+$/.test(length)) headers['content-length'] = length;
  const id = upstream['request-id'] ?? upstream['x-request-id'];
  if (typeof id === 'string' && REQUEST_ID.test(id)) headers[HEADER.upstreamRequestId] = id;
  return headers;
}
