import { timestamp } from '../clock.ts';
import type { Store } from '../store/store.ts';
import type { Person } from './holds.ts';
import type { PolicyNow } from './policy-shelf.ts';
import { type RetentionRule, readRules } from './retention-rules.ts';
import { dropSlice, holdsInForce, type SliceParts } from './retention-slices.ts';
import { ruleKey, ruleOf, Tally, whyKept } from './retention-tally.ts';
import type { Unit } from './retention-units.ts';
import { type RetentionLog, RetentionWalk } from './retention-walk.ts';

export interface RunParts extends SliceParts {
  readonly store: SliceParts['store'] & RetentionLog & Pick<Store, 'policies'>;
  /** The policies in force. */
  readonly policies: ReadonlyMap<string, PolicyNow>;
}

export interface PruneOrder extends Person {
  /** Only tell what would go. */
  readonly dryRun: boolean;
}

/** Records whose bodies are dropped in one commit: appends wait for it, some ten milliseconds. */
export const SLICE = 500;

/** Records that wait for their slice to be full, at most. */
const WAITING_MAX = 10_000;

/** One run over the log that drops what is over, and counts. */
export class PruneRun {
  readonly id: string;
  readonly order: PruneOrder;
  readonly startedAt: string;
  readonly tally = new Tally();
  state: 'running' | 'done' | 'stopped' | 'failed' = 'running';
  endedAt: string | undefined;
  /** Why it failed, in words for an operator. */
  fault: string | undefined;
  readonly #parts: RunParts;
  readonly #waiting = new Map<string, { readonly rule: RetentionRule; units: Unit[]; records: number }>();
  #walk: RetentionWalk | undefined;
  #stopping = false;

  constructor(parts: RunParts, order: PruneOrder) {
    this.#parts = parts;
    this.order = order;
    this.id = parts.newId();
    this.startedAt = timestamp(parts.clock);
  }

  /** Places looked at, of how many. */
  get progress(): { readonly looked: number; readonly of: number } {
    return { looked: this.#walk?.looked ?? 0, of: this.#walk?.size ?? 0 };
  }

  /** Ends after the slice under way. */
  stop(): void {
    this.#stopping = true;
  }

  /** Never rejects. */
  async run(): Promise<void> {
    try {
      await this.#run();
      this.state = this.#stopping ? 'stopped' : 'done';
    } catch (cause) {
      this.state = 'failed';
      this.fault = cause instanceof Error ? cause.message : 'unknown';
    }
    this.endedAt = timestamp(this.#parts.clock);
  }

  async #run(): Promise<void> {
    const { store, clock, policies } = this.#parts;
    const rules = await readRules(store, policies.values());
    const holds = await holdsInForce(store);
    this.#walk = await RetentionWalk.begin(store, rules, clock.now());
    for await (const found of this.#walk.found()) {
      if (this.#stopping) return;
      const reason = whyKept(found, holds);
      if (reason !== undefined) this.tally.keep(found.unit, reason);
      else await this.#add(found.unit);
    }
    while (!this.#stopping && this.#waiting.size > 0) await this.#dropLargest();
  }

  async #add(unit: Unit): Promise<void> {
    const rule = ruleOf(unit);
    if (rule === undefined) return;
    if (this.order.dryRun) {
      this.tally.drop(unit, rule);
      return;
    }
    const key = ruleKey(rule);
    const waiting = this.#waiting.get(key) ?? { rule, units: [], records: 0 };
    waiting.units.push(unit);
    waiting.records += unit.length;
    this.#waiting.set(key, waiting);
    if (waiting.records >= SLICE || this.#records() >= WAITING_MAX) await this.#dropLargest();
  }

  #records(): number {
    return [...this.#waiting.values()].reduce((sum, { records }) => sum + records, 0);
  }

  async #dropLargest(): Promise<void> {
    const [largest] = [...this.#waiting].toSorted(([, one], [, other]) => other.records - one.records);
    if (largest === undefined) return;
    const [key, { rule, units }] = largest;
    this.#waiting.delete(key);
    const { dropped, held } = await dropSlice(this.#parts, units, rule, this.order);
    for (const unit of dropped) this.tally.drop(unit, rule);
    for (const unit of held) this.tally.keep(unit, 'hold');
  }
}
