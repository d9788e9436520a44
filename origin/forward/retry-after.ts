import type { IncomingHttpHeaders } from 'node:http';

/** Longest wait, in seconds, that an endpoint's word is taken for. */
const LONGEST_S = 60;

/**
 * Seconds after which an endpoint asks to be tried again: `retry-after-ms` (OpenAI), else
 * `x-ms-retry-after-ms` (Azure), else `retry-after` in seconds or as an HTTP date (RFC 9110 section 10.2.3).
 * Between 1 and 60; undefined where it says nothing that counts.
 */
export function retryAfterSeconds(headers: IncomingHttpHeaders, now: number): number | undefined {
  const seconds = [
    decimal(headers['retry-after-ms'], 1_000),
    decimal(headers['x-ms-retry-after-ms'], 1_000),
    decimal(headers['retry-after'], 1),
    until(headers['retry-after'], now),
  ].find((value) => value !== undefined);
  return seconds === undefined ? undefined : Math.min(Math.max(Math.ceil(seconds), 1), LONGEST_S);
}

const decimal = (value: string | string[] | undefined, perSecond: number): number | undefined =>
  typeof value === 'string' && /^\d{1,12}(\.\d{1,6})?$/.test(value) ? Number(value) / perSecond : undefined;

/** All three forms of an HTTP date begin with the day of the week (RFC 9110 section 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

function until(value: string | undefined, now: number): number | undefined {
  if (value === undefined || !HTTP_DATE.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : (date - now) / 1_000;
}
