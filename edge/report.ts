import { REFUSALS_PATH } from '../shared/assertion.ts';
import { HEADER } from '../shared/headers.ts';
import type { Zone } from '../shared/zones.ts';
import type { Call } from './call.ts';
import type { Denial } from './denial.ts';
import type { Environment } from './environment.ts';
import { readEntry } from './lookup.ts';
import { signReport } from './sign.ts';

/** Milliseconds before each try; the same report is sent each time, so that an origin can tell a repetition. */
const TRIES_AFTER_MS = [0, 250, 1_000] as const;

/** Milliseconds that one try may take. With the pauses, all fit into the 30 s a Worker has after its answer. */
const TRY_LIMIT_MS = 5_000;

/** Reports under way in one isolate. A flood of refusals costs this many connections at most. */
export const REPORTS_LIMIT = 100;

/** How often, and in what pauses, a report asks for a place: about ten seconds, which its tries still fit behind. */
const PLACE_TRIES = 100;
const PLACE_PAUSE_MS = 100;

/** Milliseconds after which a report's place is free again, though its end was never seen. */
const PLACE_LIFETIME_MS = 30_000;

/** When each report under way began. The runtime may end a request's work unseen, so places also expire. */
const underWay = new Map<symbol, number>();

/** Reports a refusal to the origin that keeps its record, as headers alone. Never throws; gives up in the end. */
export async function report(denial: Denial, call: Call, environment: Environment): Promise<void> {
  const place = await placeInTime();
  if (place === undefined) return console.error('A report of a refusal found no place');
  try {
    const zone = await receiverOf(denial, environment);
    const origin = environment.origins[zone];
    if (origin === undefined) return;
    await send(origin, await signReport(denial, zone, call, environment.signingKey));
  } catch {
    console.error('A report of a refusal could not be made');
  } finally {
    underWay.delete(place);
  }
}

/** Places are asked for again, not waited for: a promise of one request would end with that request's caller. */
async function placeInTime(): Promise<symbol | undefined> {
  for (let asked = 0; asked < PLACE_TRIES; asked += 1) {
    const place = takePlace(Date.now());
    if (place !== undefined) return place;
    await new Promise((resolve) => setTimeout(resolve, PLACE_PAUSE_MS));
  }
  return undefined;
}

function takePlace(now: number): symbol | undefined {
  for (const [place, since] of underWay) if (now - since > PLACE_LIFETIME_MS) underWay.delete(place);
  if (underWay.size >= REPORTS_LIMIT) return undefined;
  const place = Symbol();
  underWay.set(place, now);
  return place;
}

/** The tenant's own zone where its entry can be read, else the home of what no tenant's zone is known for. */
async function receiverOf(denial: Denial, environment: Environment): Promise<Zone> {
  const zone = await zoneOf(denial, environment);
  return zone !== undefined && environment.origins[zone] !== undefined ? zone : environment.unattributedHome;
}

async function zoneOf(denial: Denial, environment: Environment): Promise<Zone | undefined> {
  switch (denial.zone) {
    case 'not_found':
      return undefined;
    case 'not_looked_up': {
      if (denial.tenant === undefined) return undefined;
      const entry = await readEntry(denial.tenant, environment);
      return entry.ok ? entry.value.jurisdiction : undefined;
    }
    default:
      return denial.zone;
  }
}

async function send(origin: string, assertion: string): Promise<void> {
  for (const wait of TRIES_AFTER_MS) {
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    if (await deliver(origin, assertion)) return;
  }
  console.error('A report of a refusal was not taken by its origin');
}

async function deliver(origin: string, assertion: string): Promise<boolean> {
  try {
    const answer = await fetch(new URL(REFUSALS_PATH, origin), {
      method: 'POST',
      headers: { [HEADER.assertion]: assertion },
      redirect: 'manual',
      signal: AbortSignal.timeout(TRY_LIMIT_MS),
    });
    await answer.body?.cancel();
    return answer.ok;
  } catch {
    return false;
  }
}
