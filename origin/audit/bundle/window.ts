import { parseNote } from '../../../shared/note.ts';
import type { LogCheckpoint, LogSource } from './log-source.ts';

/** How often a new checkpoint is looked at for cosignatures, which take a witness some seconds. */
const COSIGNED_TRIES = 15;

/** A part of a log between two checkpoints, which hold all that was recorded in a span of time. */
export interface Window {
  /** RFC 3339, milliseconds, UTC; no wider than what the checkpoints span. */
  readonly from: string;
  readonly to: string;
  /** The checkpoint that the window follows; undefined where it begins with the log. */
  readonly first: LogCheckpoint | undefined;
  readonly last: LogCheckpoint;
  /** First, last, and between them each that closes an hour. */
  readonly checkpoints: readonly LogCheckpoint[];
  /** Whether enough witnesses have cosigned the last one. */
  readonly witnessed: boolean;
}

/**
 * The window of a span of time: from the last checkpoint signed at its begin or before, to the first one signed at
 * its end or after, for which a new one is made where there is none yet. A log belongs to hours by the places of
 * its records, and not by their clocks. Undefined where the span lies wholly in the future.
 *
 * @param tailMs goes on for so long after its end, as far as there are checkpoints, so that calls that were under
 *   way have their ends in it
 */
export async function windowOf(
  source: LogSource,
  span: { readonly from: string; readonly to: string },
  tailMs = 0,
): Promise<Window | undefined> {
  const first = await source.checkpointBefore(span.from);
  const until = new Date(Date.parse(span.to) + tailMs).toISOString();
  const spanned = await through(source, until, (first?.number ?? 0) - 1);
  let last = spanned.at(-1);
  if (last === undefined || last.at < span.to) last = await source.checkpointNow();
  if (last.at < span.from) return undefined;
  const end = await cosignedFrom(source, last);
  const beginning = spanned[0] ?? end;
  const isCovered = end.at >= span.to;
  return {
    from: first === undefined && span.from < beginning.at ? beginning.at : span.from,
    to: isCovered ? span.to : end.at,
    first,
    last: end,
    checkpoints: [...spanned.filter(({ number }) => number < end.number), end],
    witnessed: isCosigned(source, end),
  };
}

/** The first checkpoint after a number, those that close an hour, and the first signed at `to` or after, or the last. */
async function through(source: LogSource, to: string, after: number): Promise<LogCheckpoint[]> {
  const kept: LogCheckpoint[] = [];
  let before: LogCheckpoint | undefined;
  for (;;) {
    const page = await source.checkpoints(before?.number ?? after);
    for (const checkpoint of page) {
      if (kept.length === 0 || checkpoint.hour !== null || checkpoint.at >= to) kept.push(checkpoint);
      if (checkpoint.at >= to) return kept;
      before = checkpoint;
    }
    if (page.length > 0) continue;
    if (before !== undefined && before.number !== kept.at(-1)?.number) kept.push(before);
    return kept;
  }
}

/**
 * A checkpoint that enough witnesses have cosigned, for what they say of it they say of all before it: this one, or
 * the next that they got round to. Where none is in time, this one as it is.
 */
async function cosignedFrom(source: LogSource, last: LogCheckpoint): Promise<LogCheckpoint> {
  if (isCosigned(source, last)) return last;
  for (let tries = 1; tries < COSIGNED_TRIES; tries += 1) {
    const later = await source.checkpoints(last.number - 1);
    const cosigned = later.find((checkpoint) => isCosigned(source, checkpoint));
    if (cosigned !== undefined) return cosigned;
    await source.rest();
  }
  return last;
}

/** By the number of its lines: what they are worth is for whoever verifies them. */
function isCosigned({ log, witnessQuorum }: LogSource, { note }: LogCheckpoint): boolean {
  const parsed = parseNote(note);
  const others = parsed.ok ? parsed.value.signatures.filter(({ name }) => name !== log) : [];
  return others.length >= witnessQuorum;
}
