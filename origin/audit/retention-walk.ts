import { recordSchema } from '../../shared/record.ts';
import type { LogReader, SequencedRow, StoreReader } from '../store/store.ts';
import type { RetentionRules, RetentionRules as Rules } from './retention-rules.ts';
import { type Found, Units, type Weighed } from './retention-units.ts';
import { unreleasedViolations, type ViolationLog } from './violations.ts';

export type RetentionLog = ViolationLog &
  Pick<LogReader, 'after' | 'byId'> &
  Pick<StoreReader, 'checkpointBefore'>;

const DAY_MS = 86_400_000;

/** Rows that are read and weighed at once, between which calls are served. */
const PAGE = 256;

/** What a record says of how long it is kept. */
const citingSchema = recordSchema
  .pick({
    kind: true,
    policy: true,
    policy_version: true,
    policy_sha256: true,
    endpoint: true,
  })
  .strip();

/** When records that are kept for so many days may go: those no younger, at places below `size`. */
interface Deadline {
  readonly at: string;
  readonly size: number;
}

/** Walks over the log as far as anything in it can be over, and gives what belongs together. */
export class RetentionWalk {
  readonly #log: RetentionLog;
  readonly #rules: RetentionRules;
  readonly #deadlines: ReadonlyMap<number, Deadline>;
  /** Endpoint and time of the evidence that holds an endpoint in quarantine. */
  readonly #quarantines: ReadonlySet<string>;
  #looked = 0;

  private constructor(
    log: RetentionLog,
    rules: RetentionRules,
    deadlines: ReadonlyMap<number, Deadline>,
    quarantines: ReadonlySet<string>,
  ) {
    this.#log = log;
    this.#rules = rules;
    this.#deadlines = deadlines;
    this.#quarantines = quarantines;
  }

  /** @param now ms since the epoch. Rejects as the store does, as all of this does. */
  static async begin(log: RetentionLog, rules: Rules, now: number): Promise<RetentionWalk> {
    const deadlines = new Map<number, Deadline>();
    for (const days of rules.days) {
      const at = new Date(now - days * DAY_MS).toISOString();
      // A record's own time is its writer's word. That it is so old is attested only by a checkpoint over it.
      deadlines.set(days, { at, size: (await log.checkpointBefore(at))?.size ?? 0 });
    }
    const unreleased = await unreleasedViolations(log);
    const quarantines = unreleased.map(({ endpoint, at }) => placeOf(endpoint, at));
    return new RetentionWalk(log, rules, deadlines, new Set(quarantines));
  }

  /** How many places there are to look at, and how many have been. */
  get size(): number {
    return Math.max(0, ...[...this.#deadlines.values()].map(({ size }) => size));
  }

  get looked(): number {
    return this.#looked;
  }

  async *found(): AsyncGenerator<Found> {
    const units = new Units(this.#log);
    while (this.#looked < this.size) {
      const page = await this.#log.after(this.#looked - 1, Math.min(PAGE, this.size - this.#looked));
      for (const row of page) {
        const found = row.canonical === undefined ? undefined : await units.take(row, this.#weigh(row));
        if (found !== undefined) yield found;
      }
      this.#looked = (page.at(-1)?.seq ?? this.size - 1) + 1;
    }
    yield* units.rest();
  }

  #weigh(row: SequencedRow): Weighed {
    const { seq, at, tenant } = row;
    const cites = citingSchema.safeParse(jsonOf(row.canonical ?? ''));
    const rule = this.#rules.ruleOf(cites.success ? cites.data : { kind: row.kind });
    const deadline = this.#deadlines.get(rule.days);
    const weighed = {
      seq,
      at,
      tenant,
      rule,
      over: deadline !== undefined && at <= deadline.at && seq < deadline.size,
    };
    if (!cites.success) return { ...weighed, stays: 'unreadable' };
    const { kind, endpoint = '' } = cites.data;
    const quarantined = kind === 'violation' && this.#quarantines.has(placeOf(endpoint, Date.parse(at)));
    return quarantined ? { ...weighed, stays: 'quarantine' } : weighed;
  }
}

const placeOf = (endpoint: string, at: number): string => `${at} ${endpoint}`;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
