/** As a client gives them: a header that came several times is a list, whatever Node's own types say of it. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Bounds of a cool-down, in milliseconds, whatever the endpoint says. */
export const COOL_DOWN_MS = { least: 1_000, most: 60_000 };

/**
 * How long an endpoint asks to be left alone, in milliseconds between 1,000 and 60,000: `retry-after-ms`
 * (OpenAI), else `x-ms-retry-after-ms` (Azure), else `retry-after` in seconds or as an HTTP date (RFC 9110
 * section 10.2.3). Of a header that came several times the longest counts. Undefined where none can be read.
 */
export function coolDownMs(headers: Headers, now: number): number | undefined {
  const asked =
    longest(headers['retry-after-ms'], (text) => decimal(text, 1)) ??
    longest(headers['x-ms-retry-after-ms'], (text) => decimal(text, 1)) ??
    longest(headers['retry-after'], (text) => decimal(text, 1_000) ?? until(text, now));
  return asked === undefined ? undefined : clampCoolDown(asked);
}

/** Between the bounds of a cool-down, in milliseconds. */
export const clampCoolDown = (ms: number): number =>
  Math.min(Math.max(Math.ceil(ms), COOL_DOWN_MS.least), COOL_DOWN_MS.most);

function longest(
  value: string | readonly string[] | undefined,
  read: (text: string) => number | undefined,
): number | undefined {
  const asked = [value ?? []].flat().flatMap((text) => read(text.trim()) ?? []);
  return asked.length === 0 ? undefined : Math.max(...asked);
}

const decimal = (text: string, unitMs: number): number | undefined =>
  /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) * unitMs : undefined;

/** All three forms of an HTTP date begin with the day of the week (RFC 9110 section 5.6.7). */
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]{0,6},? /;

function until(text: string, now: number): number | undefined {
  if (!HTTP_DATE.test(text)) return undefined;
  // The form of asctime names no zone; HTTP means UTC, JavaScript would take it for local time.
  const date = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(date) ? undefined : date - now;
}
