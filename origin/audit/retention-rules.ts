import { hash } from 'node:crypto';
import { retentionOf } from '../../shared/pack-rules.ts';
import { parsePolicyStream } from '../../shared/policy-stream.ts';
import type { AuditRecord } from '../../shared/record.ts';
import type { PolicyReader, PolicyRow } from '../store/policy-table.ts';
import type { PolicyNow } from './policy-shelf.ts';

/** A policy version that says how long records are kept. */
export interface RetentionRow {
  readonly policy: string;
  readonly version: string;
  readonly sha256: string;
  /** Days; Infinity where records are kept for ever. */
  readonly days: number;
}

/** Why it is this row that a record is kept under. */
export type Basis =
  /** The record cites it. */
  | 'cited'
  /** It is the version of that name now in force, and asks for longer than the one cited. */
  | 'in_force'
  /** The record is under no policy, and this one asks for the longest of all. */
  | 'longest';

export interface RetentionRule extends RetentionRow {
  readonly basis: Basis;
}

export type Cites = Pick<AuditRecord, 'kind' | 'policy' | 'policy_version' | 'policy_sha256'>;

/** Policies that are read at once: each may be large. */
const PAGE = 16;

/**
 * How long each record is kept: as long as the strictest says of the policy version that it cites, with the packs
 * of its time, and the version of that name now in force. What cannot be read says for ever.
 *
 * Records under no policy (a refusal before there was one) and `control` records (which tell of every change, of
 * pruning too) are kept as long as the longest of all policies that were ever in force here.
 */
export class RetentionRules {
  readonly #kept: ReadonlyMap<string, RetentionRow>;
  readonly #inForce: ReadonlyMap<string, RetentionRow>;
  readonly #longest: RetentionRule;

  constructor(kept: readonly RetentionRow[], inForce: Iterable<PolicyNow>) {
    this.#kept = new Map(kept.map((row) => [row.sha256, row]));
    this.#inForce = new Map([...inForce].map((policy) => [policy.name, rowInForce(policy)]));
    const all = [...this.#kept.values(), ...this.#inForce.values()];
    this.#longest = { ...all.reduce(longer, all[0] ?? NONE), basis: 'longest' };
  }

  /** All finite numbers of days that a rule can come to. */
  get days(): readonly number[] {
    const rows = [...this.#kept.values(), ...this.#inForce.values()];
    return [...new Set(rows.map(({ days }) => days).filter(Number.isFinite))];
  }

  ruleOf({ kind, policy, policy_version: version = '', policy_sha256: sha256 }: Cites): RetentionRule {
    if (kind === 'control' || policy === undefined || sha256 === undefined) return this.#longest;
    const cited = this.#kept.get(sha256) ?? { policy, version, sha256, days: Infinity };
    const now = this.#inForce.get(policy);
    return now !== undefined && now.days > cited.days
      ? { ...now, basis: 'in_force' }
      : { ...cited, basis: 'cited' };
  }
}

/** Where there is no policy nothing is ever dropped. */
const NONE: RetentionRow = { policy: '', version: '', sha256: '', days: Infinity };

const longer = (one: RetentionRow, other: RetentionRow): RetentionRow =>
  other.days > one.days ? other : one;

const rowInForce = ({ name, version, sha256, retentionDays = Infinity }: PolicyNow): RetentionRow => ({
  ...{ policy: name, version, sha256 },
  days: retentionDays,
});

/** The rules of this moment. Rejects as the store does. */
export async function readRules(
  store: Pick<PolicyReader, 'policies'>,
  inForce: Iterable<PolicyNow>,
): Promise<RetentionRules> {
  const kept: RetentionRow[] = [];
  for (let after = ''; ; ) {
    const page = await store.policies(after, PAGE);
    kept.push(...page.map(rowKept));
    const last = page.at(-1);
    if (last === undefined) return new RetentionRules(kept, inForce);
    after = last.sha256;
  }
}

function rowKept({ name, version, sha256, stream }: PolicyRow): RetentionRow {
  const policy = hash('sha256', stream) === sha256 ? parsePolicyStream(stream) : undefined;
  const days = policy && retentionOf(policy.document, policy.packs);
  return { policy: name, version, sha256, days: days ?? Infinity };
}
