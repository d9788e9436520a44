import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LoadedPolicy } from '../../../origin/policy/document.ts';
import type { HoldRow } from '../../../origin/store/retention-table.ts';
import type { AuditRecord } from '../../../shared/record.ts';
import { DAY, policyOf, RetentionFixture } from './retention-fixture.ts';

const NAMES = ['eu-support', 'eu-claims'] as const;
const TENANTS = ['acme', 'beta'] as const;

const day = fc.integer({ min: 0, max: 12 });
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('call' as const),
      name: fc.nat(1),
      tenant: fc.nat(1),
      off: fc.integer({ min: -3, max: 3 }),
      ends: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('refused' as const), tenant: fc.nat(1) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('cover' as const) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), days: day }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('enforce' as const),
      name: fc.nat(1),
      days: fc.option(day, { nil: undefined }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('hold' as const),
      tenant: fc.option(fc.nat(1), { nil: undefined }),
      day,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('prune' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A log as a test remembers it, and the plain words of the rule over it. */
class Oracle {
  readonly fixture = new RetentionFixture();
  readonly written: AuditRecord[] = [];
  /** Of every policy that was in force the days, by its hash. */
  readonly days = new Map<string, number>();
  readonly #start = this.fixture.clock.now();
  #versions = 0;

  async take(next: Step): Promise<void> {
    const { fixture } = this;
    switch (next.do) {
      case 'call':
        return await this.#call(next);
      case 'refused':
        return await this.#write(fixture.record('refused', undefined, { tenant: TENANTS[next.tenant] }));
      case 'cover':
        return await fixture.cover();
      case 'pass':
        return fixture.days(next.days);
      case 'enforce':
        return await this.enforce(NAMES[next.name] ?? '', next.days);
      case 'hold': {
        const from = new Date(this.#start + next.day * DAY).toISOString();
        const tenant = next.tenant === undefined ? {} : { tenant: TENANTS[next.tenant] ?? '' };
        await fixture.retention.place({ ...tenant, from }, { by: 'ana', why: 'case' });
        return this.#told();
      }
      case 'release': {
        const hold = (await fixture.retention.holds()).find(({ releasedAt }) => releasedAt === undefined);
        if (hold !== undefined) await fixture.retention.release(hold.id, { by: 'ana', why: 'settled' });
        return this.#told();
      }
      case 'prune':
        await fixture.prune();
        return this.#told();
    }
  }

  async enforce(name: string, days: number | undefined): Promise<void> {
    const kept = days === undefined ? undefined : days + 1;
    this.#versions += 1;
    const policy = policyOf(`${this.#versions}`, kept, { name });
    this.days.set(policy.sha256, kept ?? Infinity);
    await this.fixture.enforce(policy);
  }

  /** Whether a record's own time is over, by its clock and by the first checkpoint over it. */
  isOver(record: AuditRecord, seq: number): boolean {
    const { clock, tables } = this.fixture;
    const covered = tables.checkpoints.find(({ size }) => size > seq);
    const ms = this.#keptMs(record);
    return (
      covered !== undefined &&
      Date.parse(record.at) + ms <= clock.now() &&
      Date.parse(covered.at) + ms <= clock.now()
    );
  }

  /** The places that belong to one call, or the one place. */
  together(seq: number): readonly number[] {
    const call = this.written[seq]?.pending_id ?? this.written[seq]?.id;
    return this.written.flatMap((record, place) =>
      record.id === call || record.pending_id === call ? [place] : [],
    );
  }

  isHeld({ tenant, at }: AuditRecord, holds: readonly HoldRow[]): boolean {
    return holds.some(
      (hold) =>
        hold.releasedAt === undefined && (hold.tenant ?? tenant) === tenant && (hold.from ?? '') <= at,
    );
  }

  #keptMs({ kind, policy, policy_sha256: cited }: AuditRecord): number {
    const now: LoadedPolicy | undefined = this.fixture.inForce.get(policy ?? '');
    if (kind === 'control' || cited === undefined) return Math.max(...this.days.values()) * DAY;
    return Math.max(this.days.get(cited) ?? Infinity, now?.retentionDays ?? Infinity) * DAY;
  }

  async #call({ name, tenant, off, ends }: Extract<Step, { do: 'call' }>): Promise<void> {
    const { fixture } = this;
    const policy = fixture.inForce.get(NAMES[name] ?? '');
    const at = new Date(fixture.clock.now() + off * DAY).toISOString();
    const pending = fixture.record('pending', policy, { tenant: TENANTS[tenant], at });
    const end = fixture.record('completed', policy, { tenant: TENANTS[tenant], pending_id: pending.id });
    await this.#write(pending, ...(ends ? [end] : []));
  }

  async #write(...records: readonly AuditRecord[]): Promise<void> {
    this.written.push(...records);
    await this.fixture.write(...records);
  }

  /** Takes up the control records that the store wrote. */
  #told(): void {
    for (const { canonical = '' } of this.fixture.log.rows.slice(this.written.length))
      this.written.push(JSON.parse(canonical));
  }
}

describe('pruning, whatever was written, covered, held and enforced', () => {
  it('drops what is over and nothing else', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const oracle = new Oracle();
        for (const name of NAMES) await oracle.enforce(name, 3);
        for (const next of steps) await oracle.take(next);
        const before = new Set(oracle.fixture.gone());
        const size = oracle.written.length;
        await oracle.take({ do: 'prune' });
        const holds = await oracle.fixture.retention.holds();
        const gone = new Set(oracle.fixture.gone());
        for (const [seq, record] of oracle.written.slice(0, size).entries()) {
          if (before.has(seq)) continue;
          const together = oracle.together(seq);
          const ended = record.kind !== 'pending' || together.length > 1;
          const over = together.every((place) => {
            const one = oracle.written[place];
            return one !== undefined && oracle.isOver(one, place) && !oracle.isHeld(one, holds);
          });
          expect([seq, record.kind, gone.has(seq)]).toEqual([seq, record.kind, ended && over]);
        }
      }),
      { numRuns: 150 },
    );
  });
});
