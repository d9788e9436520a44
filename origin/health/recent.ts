import type { Clock } from '../clock.ts';
import type { Outcome } from './outcome.ts';

/** How far back is looked, in milliseconds. */
export const RECENT_MS = 300_000;

/** What happened within so many milliseconds is counted together. */
const BUCKET_MS = 30_000;

/** First tokens that are remembered of one endpoint at most: enough for a median, whatever the traffic. */
export const FIRST_TOKENS_MAX = 100;

/** How an endpoint did of late: attempts of calls, and probes. */
export interface Recent {
  /** Outcomes that say something of it: what was busy or the caller's doing does not. */
  readonly counted: number;
  /** Those that were a failure, a slow first token, or a credential that is not accepted. */
  readonly failed: number;
  /** Times to the first token in milliseconds, the median and the last; undefined where none was seen. */
  readonly firstToken: { readonly typicalMs: number; readonly lastMs: number } | undefined;
  /** When an attempt last ended that it had a part in, however long ago, in ms since the epoch. */
  readonly triedAt: number | undefined;
}

interface Counts {
  counted: number;
  failed: number;
}

interface FirstToken {
  readonly at: number;
  readonly ms: number;
}

interface Track {
  /** By the number of their BUCKET_MS since the epoch. */
  readonly buckets: Map<number, Counts>;
  /** Oldest first. */
  firstTokens: readonly FirstToken[];
  triedAt: number | undefined;
}

/**
 * The error rate and the times to the first token of each endpoint over the last minutes, for a person's eyes:
 * circuits open by failures in a row and `max_ttft_ms` alone. Not kept over a restart. Endpoints are those of
 * the registry, which bounds what is held.
 */
export class RecentOutcomes {
  readonly #clock: Clock;
  readonly #tracks = new Map<string, Track>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  note(endpoint: string, outcome: Outcome): void {
    if (outcome.kind === 'neutral') return;
    const now = this.#clock.now();
    const track = this.#trackOf(endpoint, now);
    track.triedAt = now;
    if (outcome.kind === 'busy') return;
    const number = Math.floor(now / BUCKET_MS);
    const { counted, failed } = track.buckets.get(number) ?? { counted: 0, failed: 0 };
    track.buckets.set(number, {
      counted: counted + 1,
      failed: failed + (outcome.kind === 'success' ? 0 : 1),
    });
    const ms = firstTokenMs(outcome);
    if (ms === undefined) return;
    track.firstTokens = [...track.firstTokens, { at: now, ms: Math.max(ms, 0) }].slice(-FIRST_TOKENS_MAX);
  }

  of(endpoint: string): Recent {
    const { buckets, firstTokens, triedAt } = this.#trackOf(endpoint, this.#clock.now());
    const counts = [...buckets.values()];
    const sum = (member: keyof Counts): number => counts.reduce((all, one) => all + one[member], 0);
    return { counted: sum('counted'), failed: sum('failed'), firstToken: summary(firstTokens), triedAt };
  }

  /** What is left of an endpoint's track at this moment; what a clock that was set back left ahead goes too. */
  #trackOf(endpoint: string, now: number): Track {
    const track = this.#tracks.get(endpoint) ?? { buckets: new Map(), firstTokens: [], triedAt: undefined };
    this.#tracks.set(endpoint, track);
    const newest = Math.floor(now / BUCKET_MS);
    const oldest = newest - RECENT_MS / BUCKET_MS;
    for (const number of track.buckets.keys()) {
      if (number <= oldest || number > newest) track.buckets.delete(number);
    }
    track.firstTokens = track.firstTokens.filter(({ at }) => at > now - RECENT_MS && at <= now);
    return track;
  }
}

function firstTokenMs(outcome: Outcome): number | undefined {
  if (outcome.kind === 'success') return outcome.ttftMs;
  return outcome.kind === 'slow' && !outcome.reckoned ? outcome.ttftMs : undefined;
}

function summary(firstTokens: readonly FirstToken[]): Recent['firstToken'] {
  const last = firstTokens.at(-1);
  const inOrder = firstTokens.map(({ ms }) => ms).toSorted((one, other) => one - other);
  const median = inOrder[Math.floor((inOrder.length - 1) / 2)];
  return last === undefined || median === undefined ? undefined : { typicalMs: median, lastMs: last.ms };
}
