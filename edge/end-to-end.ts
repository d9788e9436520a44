import { HEADER, HOP_BY_HOP, RESERVED_PREFIX } from '../shared/headers.ts';

/**
 * Headers that this gateway decides by, and so never counts as belonging to one connection, whatever
 * `connection:` says: a caller could otherwise make edge and origin see different requests.
 */
const RELIED_ON: ReadonlySet<string> = new Set([
  HEADER.jurisdiction,
  HEADER.tenant,
  HEADER.authorization,
  HEADER.apiKey,
  HEADER.requestId,
  HEADER.workload,
  HEADER.idempotencyKey,
  'accept',
  'accept-encoding',
  'traceparent',
  'user-agent',
]);

const RELIED_ON_PREFIXES = ['content-', 'anthropic-', 'openai-'] as const;

const isReliedOn = (name: string): boolean =>
  RELIED_ON.has(name) || RELIED_ON_PREFIXES.some((prefix) => name.startsWith(prefix));

/** A request's headers without those of its connection (RFC 9110 section 7.6.1) and those only the gateway may set. */
export function requestHeaders(sent: Headers): Headers {
  const nominated = new Set(
    (sent.get('connection') ?? '').split(',').map((name) => name.trim().toLowerCase()),
  );
  return without(
    sent,
    (name) =>
      name === 'host' || name.startsWith(RESERVED_PREFIX) || (nominated.has(name) && !isReliedOn(name)),
  );
}

/** An origin's answer's headers without those of its connection. */
export const responseHeaders = (answered: Headers): Headers => without(answered, () => false);

function without(headers: Headers, dropped: (name: string) => boolean): Headers {
  const kept = new Headers(headers);
  for (const name of headers.keys()) {
    if (HOP_BY_HOP.has(name) || dropped(name)) kept.delete(name);
  }
  return kept;
}
