import type { Refusal } from '../shared/errors.ts';
import type { ModelRoute } from '../shared/routes.ts';
import type { Call } from './admit/call.ts';
import type { ReadBody } from './admit/workload.ts';
import type { AttemptRecords } from './attempt-records.ts';
import type { Failed } from './forward/answer.ts';
import type { Considered } from './forward/considered.ts';
import type { Gateway } from './gateway.ts';
import { coolDownMs } from './health/cool-down.ts';
import type { Departure } from './health/departure.ts';
import type { AttemptEnd } from './health/outcome.ts';
import type { Unusable } from './health/snapshot.ts';
import type { Candidate } from './policy/resolve.ts';
import type { Standpoint } from './policy/standing.ts';

/** Seconds after which an endpoint that failed without a word may be tried again. */
const SOON_S = 1;

/** Longest wait, in seconds, that a caller is told: a person may act before. */
const LONGEST_WAIT_S = 3_600;

/**
 * Least time, in ms, that an attempt has before it: one that is cut off at once burdens an endpoint for nothing.
 * Where the limit itself is short, a share of it.
 */
const LEAST_LEFT_MS = 1_000;
const LEAST_SHARE = 0.1;

/** What is told to a caller whose call the process has no time for any more. */
export const STOPPING: Refusal = { code: 'gateway_busy', limit: 'drain_ms' };

export const NOT_TRIED = 'not tried: the limit attempts_total_ms was reached before';

/** A call that was let in. */
export interface Entered {
  readonly gateway: Gateway;
  readonly call: Call;
  readonly route: ModelRoute;
  readonly standpoint: Standpoint;
}

/** What the attempts of one call have in common, and what has become of them so far. */
export interface Course {
  readonly body: ReadBody;
  /** When all attempts must have come to an end, on the monotonic clock. */
  readonly deadline: number;
  readonly considered: Considered;
  /** Seconds after which each endpoint that failed may be tried again. */
  readonly waits: number[];
}

/** One attempt: its records, when it leaves, and how its end is told to the circuits. */
export interface One {
  readonly records: AttemptRecords;
  readonly departure: Departure;
  tell(end: AttemptEnd): void;
  /** Whether it is the one probe of a half-open circuit. */
  readonly isProbe: boolean;
  readonly left: readonly Candidate[];
}

/** Goes past an endpoint that the circuits let nobody through to, though it looked usable a moment ago. */
export function pass(
  { considered, waits }: Course,
  { endpoint }: Candidate,
  health: Unusable,
  now: number,
): void {
  considered.reject(endpoint.id, health.why);
  waits.push(Math.max(Math.ceil((health.retryAt - now) / 1_000), SOON_S));
}

/** Whether there is time for another attempt. */
export function hasTime({ clock, config }: Gateway, { deadline }: Course): boolean {
  const least = Math.min(LEAST_LEFT_MS, config.limits.attempts_total_ms * LEAST_SHARE);
  return deadline - clock.monotonic() >= least;
}

/**
 * Ends an attempt on record whose endpoint came into a state that lets nobody through before anything of it was
 * sent; so it is no word on its endpoint.
 */
export async function withdraw(
  { gateway }: Entered,
  course: Course,
  { records, tell }: Pick<One, 'records' | 'tell'>,
  health: Unusable,
): Promise<void> {
  tell({ kind: 'gone' });
  pass(course, records.candidate, health, gateway.clock.now());
  await records.append('failed', { actor: 'gateway' });
}

/** Notes a failure; what the caller is told where it was the last, undefined where another may follow. */
export function refusalAfter(
  entered: Entered,
  course: Course,
  { candidate }: AttemptRecords,
  tried: Failed,
  left: readonly Candidate[],
): Refusal | undefined {
  const { gateway, call, standpoint } = entered;
  const { considered, waits } = course;
  const now = gateway.clock.now();
  considered.reject(candidate.endpoint.id, tried.why);
  waits.push(secondsToWait(gateway, standpoint.tenant, candidate, tried, now));
  if (call.stoppedBy === 'gateway') return STOPPING;
  const health = gateway.health.circuits.snapshot(standpoint.tenant);
  const usable = left.filter(({ endpoint }) => health.of(endpoint.id).usable);
  if (usable.length > 0 && hasTime(gateway, course)) return undefined;
  for (const { endpoint } of left) {
    const known = health.of(endpoint.id);
    considered.reject(endpoint.id, known.usable ? NOT_TRIED : known.why);
  }
  return exhausted(entered, course);
}

/** When the endpoint says so, or its circuit does. */
function secondsToWait(
  { health }: Gateway,
  tenant: string,
  { endpoint }: Candidate,
  { headers = {} }: Failed,
  now: number,
): number {
  const known = health.circuits.snapshot(tenant).of(endpoint.id);
  const asked = (coolDownMs(headers, now) ?? 0) / 1_000;
  const opens = known.usable ? 0 : Math.min((known.retryAt - now) / 1_000, LONGEST_WAIT_S);
  return Math.max(Math.ceil(asked), Math.ceil(opens), SOON_S);
}

/** What is told to a caller for whom no endpoint is left. */
export function exhausted({ standpoint: { policy } }: Entered, { considered, waits }: Course): Refusal {
  const retryAfter = Math.min(...waits, LONGEST_WAIT_S);
  return { code: 'no_compliant_endpoint', policy: policy.label, candidates: considered.list, retryAfter };
}
