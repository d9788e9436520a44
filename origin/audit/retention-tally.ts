import type { HoldRow } from '../store/retention-table.ts';
import { isHeldBy } from './holds.ts';
import type { RetentionRule } from './retention-rules.ts';
import type { Found, Unit } from './retention-units.ts';

/** Why records stay although their time is over. */
export type KeptReason =
  /** A hold is on them or on another record of their call. */
  | 'hold'
  /** A record of their call is younger, or the call has no end yet. */
  | 'call'
  /** An endpoint is in quarantine by them, and nobody has released it. */
  | 'quarantine'
  /** They are not of the form of a record. */
  | 'unreadable';

export interface RuleTally {
  readonly rule: RetentionRule;
  records: number;
  /** Times of the records, RFC 3339. */
  oldest: string;
  newest: string;
}

/** What goes and what stays, counted. */
export class Tally {
  readonly rules = new Map<string, RuleTally>();
  readonly kept = new Map<KeptReason, number>();

  drop(unit: Unit, rule: RetentionRule): void {
    const key = ruleKey(rule);
    for (const { at } of unit) {
      const line = this.rules.get(key) ?? { rule, records: 0, oldest: at, newest: at };
      line.records += 1;
      if (at < line.oldest) line.oldest = at;
      if (at > line.newest) line.newest = at;
      this.rules.set(key, line);
    }
  }

  keep(unit: Unit, reason: KeptReason): void {
    const over = unit.filter((record) => record.over).length;
    if (over > 0) this.kept.set(reason, (this.kept.get(reason) ?? 0) + over);
  }
}

export const ruleKey = ({ sha256, basis }: RetentionRule): string => `${basis} ${sha256}`;

/** Why something has to stay; undefined where all of it may go. */
export function whyKept({ unit, whole }: Found, holds: readonly HoldRow[]): KeptReason | undefined {
  const stays = unit.find((record) => record.stays !== undefined)?.stays;
  if (stays !== undefined) return stays;
  if (!whole || unit.some(({ over }) => !over)) return 'call';
  return isHeld(unit, holds) ? 'hold' : undefined;
}

export const isHeld = (unit: Unit, holds: readonly HoldRow[]): boolean =>
  unit.some((record) => holds.some((hold) => isHeldBy(hold, record)));

/** The strictest of the rules that its records are kept under. */
export const ruleOf = (unit: Unit): RetentionRule | undefined =>
  unit
    .map(({ rule }) => rule)
    .reduce<RetentionRule | undefined>(
      (longest, rule) => (longest === undefined || rule.days > longest.days ? rule : longest),
      undefined,
    );
