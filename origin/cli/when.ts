import { UsageFault } from '../usage-fault.ts';

const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

type Unit = keyof typeof UNIT_MS;

const isUnit = (text: string): text is Unit => Object.hasOwn(UNIT_MS, text);

/** How `--from` and `--to` are written, for their help. */
export const WHEN_FORMS =
  'RFC 3339, a date (its first moment in UTC), now, or back from now as in -7d or -12h';

/** The span of time of `30m`, `2h`, `7d`, in ms; undefined for any other text. */
export function spanOf(text: string): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,6})([a-z])$/.exec(text) ?? [];
  return isUnit(unit) ? Number(digits) * UNIT_MS[unit] : undefined;
}

/** A moment as a person writes it, as RFC 3339 with milliseconds in UTC. @param now ms since the epoch */
export function momentOf(option: string, text: string, now: number): string {
  const back = text.startsWith('-') ? spanOf(text.slice(1)) : undefined;
  const ms = text === 'now' ? now : back === undefined ? timeOf(text) : now - back;
  if (Number.isFinite(ms)) return new Date(ms).toISOString();
  throw new UsageFault(`${option} takes ${WHEN_FORMS}; ${text} is none of these`);
}

/** A date or a time with its offset: one without would be another moment on another machine. */
function timeOf(text: string): number {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(text);
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/.test(text);
  const ms = isDate || isTime ? Date.parse(text) : Number.NaN;
  // A day that its month does not have is taken for one of the next.
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  return Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text.slice(0, 10)) ? Number.NaN : ms;
}

/** The span of time between two moments. @param now ms since the epoch */
export function spanBetween(
  { from: fromText, to: toText }: { readonly from: string; readonly to: string },
  now: number,
): { readonly from: string; readonly to: string } {
  const span = { from: momentOf('--from', fromText, now), to: momentOf('--to', toText, now) };
  if (span.from < span.to) return span;
  throw new UsageFault(`--from has to come before --to; they are ${span.from} and ${span.to}`);
}
