import type { IncomingHttpHeaders } from 'node:http';

/** Bounds of a cool-down, in milliseconds, whatever the endpoint says. */
export const COOL_DOWN_MS = { least: 1_000, most: 60_000 };

/**
 * How long an endpoint asks to be left alone, in milliseconds between 1,000 and 60,000: `retry-after-ms`
 * (OpenAI), else `x-ms-retry-after-ms` (Azure), else `retry-after` in seconds or as an HTTP date (RFC 9110
 * section 10.2.3). Undefined where none of them can be read.
 */
export function coolDownMs(headers: IncomingHttpHeaders, now: number): number | undefined {
  const asked =
    decimal(headers['retry-after-ms'], 1) ??
    decimal(headers['x-ms-retry-after-ms'], 1) ??
    decimal(headers['retry-after'], 1_000) ??
    until(headers['retry-after'], now);
  return asked === undefined ? undefined : clampCoolDown(asked);
}

/** Between the bounds of a cool-down, in milliseconds. */
export const clampCoolDown = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms), COOL_DOWN_MS.least), COOL_DOWN_MS.most);

function decimal(value: string | string[] | undefined, unitMs: number): number | undefined {
  if (typeof value !== 'string') return undefined;
  return /^-?\d+(?:\.\d+)?$/.test(value.trim()) ? Number(value) * unitMs : undefined;
}

/** All three forms of an HTTP date begin with the day of the week (RFC 9110 section 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

function until(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? '';
  if (!HTTP_DATE.test(text)) return undefined;
  // The form of asctime names no zone; HTTP means UTC, JavaScript would take it for local time.
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : date - now;
}
