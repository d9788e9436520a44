import type { AuditRecord } from '../../../shared/record.ts';
import { ENDED, readBegun } from '../game-day.ts';

/** Endpoints that were forced open for one tenant by one order. */
export interface GameDay {
  readonly endpoints: readonly string[];
  readonly from: string;
  /** When it ended: by itself, or before its time. */
  readonly to: string;
  readonly by: string;
  readonly why: string;
}

/** One endpoint that is forced open for the tenant. */
interface Forced {
  readonly from: string;
  readonly until: string;
}

/** Follows the game days of one tenant through the log. */
export class GameDays {
  readonly #tenant: string;
  readonly #now = new Map<string, Forced>();
  readonly #all: { endpoints: string[]; from: string; to: string; by: string; why: string }[] = [];

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  /** Those that have begun so far, in their order. */
  get all(): readonly GameDay[] {
    return this.#all;
  }

  /** To be called with each record in the order of the log. */
  see({ kind, tenant, endpoint, at, actor = '', selection_reason: words = '' }: AuditRecord): void {
    if (kind !== 'control' || tenant !== this.#tenant || endpoint === undefined) return;
    const begun = readBegun(words);
    if (begun !== undefined) {
      this.#begin(endpoint, { from: at, to: begun.until, by: actor, why: begun.why });
    } else if (words.startsWith(ENDED)) this.#end(endpoint, at);
  }

  #begin(endpoint: string, day: { from: string; to: string; by: string; why: string }): void {
    this.#now.set(endpoint, { from: day.from, until: day.to });
    // One order has a record for each of its endpoints, with one end.
    const last = this.#all.at(-1);
    const isSame = last?.to === day.to && last.by === day.by && last.why === day.why;
    if (last === undefined || !isSame) this.#all.push({ endpoints: [endpoint], ...day });
    else if (!last.endpoints.includes(endpoint)) last.endpoints.push(endpoint);
  }

  #end(endpoint: string, at: string): void {
    const forced = this.#now.get(endpoint);
    this.#now.delete(endpoint);
    const day = this.#all.findLast(
      ({ endpoints, to }) => endpoints.includes(endpoint) && to === forced?.until,
    );
    if (day !== undefined && at < day.to) day.to = at;
  }

  /** Since when an endpoint is forced open at a moment, in the order of the log; undefined where it is not. */
  forcedSince(endpoint: string, at: string): string | undefined {
    const forced = this.#now.get(endpoint);
    return forced !== undefined && at < forced.until ? forced.from : undefined;
  }

  /** Whether anything is forced open at that moment. */
  isOn(at: string): boolean {
    return [...this.#now.values()].some(({ until }) => at < until);
  }
}
