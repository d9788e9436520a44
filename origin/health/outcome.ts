import type { IncomingHttpHeaders } from 'node:http';
import { COOL_DOWN_MS, coolDownMs } from './cool-down.ts';

/** What an attempt told about its endpoint. */
export type Outcome =
  | {
      readonly kind: 'success';
      /** Of a stream whose first token could have been called slow. */
      readonly ttftMs?: number;
    }
  | { readonly kind: 'failure'; readonly why: string }
  /** It answered, but its first token took longer than `max_ttft_ms`. */
  | {
      readonly kind: 'slow';
      readonly ttftMs: number;
      readonly maxTtftMs: number;
      /** Reckoned from a plain answer, which shows no first token. */
      readonly reckoned?: true;
    }
  /** It works and has no room: neither a success nor a failure. */
  | { readonly kind: 'busy'; readonly coolDownMs: number }
  /** Nothing: it was the caller's fault or doing, or never left us. */
  | { readonly kind: 'neutral' }
  /** Our credential or account is not accepted there: a failure, and one that a person has to mend. */
  | { readonly kind: 'credential'; readonly why: string };

/** How an attempt ended. */
export type AttemptEnd =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly headers: IncomingHttpHeaders;
      /** Of a stream; a plain answer has no first token. */
      readonly ttftMs?: number;
      readonly maxTtftMs: number;
      readonly requestBytes: number;
    }
  /** No answer, or one that broke off or was none. `why` is in our own words, never the endpoint's. */
  | { readonly kind: 'broken'; readonly why: string }
  /** The caller hung up, or nothing was sent. */
  | { readonly kind: 'gone' };

/**
 * Largest request whose slow first token is held against its endpoint. A longer prompt takes its time
 * anywhere, and one caller must not be able to take an endpoint from all others with it.
 */
export const ORDINARY_REQUEST_BYTES = 64 * 1024;

const SUCCESS: Outcome = { kind: 'success' };
const NEUTRAL: Outcome = { kind: 'neutral' };

/** What the end of an attempt tells about its endpoint. */
export function outcomeOf(end: AttemptEnd, now: number): Outcome {
  switch (end.kind) {
    case 'answered':
      return end.status >= 200 && end.status < 300
        ? outcomeOfAnswer(end)
        : outcomeOfStatus(end.status, end.headers, now);
    case 'broken':
      return { kind: 'failure', why: end.why };
    case 'gone':
      return NEUTRAL;
  }
}

type Answered = Extract<AttemptEnd, { readonly kind: 'answered' }>;

function outcomeOfAnswer({ ttftMs, maxTtftMs, requestBytes }: Answered): Outcome {
  if (ttftMs === undefined || requestBytes > ORDINARY_REQUEST_BYTES) return SUCCESS;
  return ttftMs <= maxTtftMs ? { kind: 'success', ttftMs } : { kind: 'slow', ttftMs, maxTtftMs };
}

/** What a status that is not 2xx tells about its endpoint; a verdict on the request tells nothing. */
export function outcomeOfStatus(status: number, headers: IncomingHttpHeaders, now: number): Outcome {
  switch (status) {
    case 401:
    case 402:
    case 403:
      return {
        kind: 'credential',
        why: `answered ${status}: the gateway's credential is not accepted there`,
      };
    case 408:
      return { kind: 'failure', why: 'answered 408: it timed out' };
    case 429:
      return { kind: 'busy', coolDownMs: coolDownMs(headers, now) ?? COOL_DOWN_MS.least };
  }
  if (status >= 400 && status < 500) return NEUTRAL;
  return { kind: 'failure', why: `answered ${status}` };
}
