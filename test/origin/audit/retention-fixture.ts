import pino from 'pino';
import { stringify } from 'yaml';
import { encodeRecord } from '../../../origin/audit/encode.ts';
import { shelve } from '../../../origin/audit/policy-shelf.ts';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { Retention } from '../../../origin/audit/retention.ts';
import type { PruneRun } from '../../../origin/audit/retention-run.ts';
import { readPack } from '../../../origin/config/pack-files.ts';
import { type LoadedPolicy, loadedPolicy } from '../../../origin/policy/document.ts';
import type { StoredRow } from '../../../origin/store/store.ts';
import { type PackName, policySchema } from '../../../shared/policy.ts';
import { type AuditRecord, RECORD_VERSION, type RecordKind } from '../../../shared/record.ts';
import { aCheckpoint } from '../../store/behaviour-tree.ts';
import { FaultyStore } from '../../support/faulty-store.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { MemoryStore } from '../../support/memory-store.ts';
import { memoryTables } from '../../support/memory-tables.ts';

export const DAY = 86_400_000;

/** A policy that keeps records for so many days; for ever without. */
export function policyOf(
  version: string,
  days?: number,
  { name = 'eu-support', packs = [] }: { name?: string; packs?: readonly PackName[] } = {},
): LoadedPolicy {
  const written = {
    policy: name,
    version,
    jurisdiction: 'eu',
    author: 'a.person',
    reviewer: 'b.person',
    packs,
    ...(days !== undefined && { retention_days: days }),
    allow: { countries: ['EEA'], models: ['vendor.large-20260101'] },
    workloads: { chat: { class: 'large', failover: { primary: 'fra' } } },
  };
  const read = packs.map(readPack);
  return loadedPolicy(
    policySchema.parse(written),
    Buffer.from(stringify(written)),
    read.flatMap((pack) => (pack.ok ? [pack.value] : [])),
  );
}

/** Counts how often something is to be pruned. */
class CountingStore extends FaultyStore {
  prunes = 0;

  override prune(control: StoredRow, seqs: readonly number[]): Promise<void> {
    this.prunes += 1;
    return super.prune(control, seqs);
  }
}

/** A log whose policies say how long it is kept, under a clock and a store that do as a test orders. */
export class RetentionFixture {
  readonly clock = new ManualClock();
  readonly tables = memoryTables();
  readonly log = new MemoryStore(this.tables);
  readonly store = new CountingStore(this.log);
  readonly inForce = new Map<string, LoadedPolicy>();
  readonly said: string[] = [];
  readonly newId = createRecordIds(this.clock);
  shut = false;
  readonly retention = this.open();

  open(): Retention {
    return new Retention({
      store: this.store,
      clock: this.clock,
      logger: pino({}, { write: (line: string) => this.said.push(line) }),
      newId: this.newId,
      jurisdiction: 'eu',
      policies: this.inForce,
      isShut: () => this.shut,
    });
  }

  /** Puts a policy into force, in the place of the one of its name. */
  async enforce(policy: LoadedPolicy): Promise<LoadedPolicy> {
    this.inForce.set(policy.name, policy);
    await shelve(this.log, this.clock, [policy]);
    return policy;
  }

  record(
    kind: RecordKind,
    policy: LoadedPolicy | undefined,
    members: Partial<AuditRecord> = {},
  ): AuditRecord {
    return {
      v: RECORD_VERSION,
      kind,
      id: this.newId(),
      at: new Date(this.clock.now()).toISOString(),
      jurisdiction: 'eu',
      tenant: 'acme',
      request_id: 'req-1',
      ...(policy && { policy: policy.name, policy_version: policy.version, policy_sha256: policy.sha256 }),
      ...members,
    };
  }

  /** Writes records; gives the place of the first. */
  async write(...records: readonly AuditRecord[]): Promise<number> {
    const first = await this.log.size();
    await this.log.append(records.map(encodeRecord));
    return first;
  }

  /** The three records of a call that was answered; gives the place of the first. */
  async call(policy: LoadedPolicy, members: Partial<AuditRecord> = {}): Promise<number> {
    const pending = this.record('pending', policy, members);
    const of = { ...members, pending_id: pending.id };
    return this.write(pending, this.record('served', policy, of), this.record('completed', policy, of));
  }

  /** Signs a checkpoint over all that there is, at the time of the clock. */
  async cover(): Promise<void> {
    const at = new Date(this.clock.now()).toISOString();
    await this.log.publish(aCheckpoint(await this.log.size(), { at }), []);
  }

  /** Lets so many days pass. */
  days(count: number): void {
    this.clock.advance(count * DAY);
  }

  async prune(dryRun = false): Promise<PruneRun> {
    const begun = this.retention.prune({ by: 'ana', why: 'the yearly one', dryRun });
    if (!begun.ok) throw new Error(begun.error);
    await this.ended(begun.value);
    return begun.value;
  }

  /** Begins a run and comes back when its first slice is on its way to the store, which is held up. */
  async firstSlice(): Promise<{ readonly run: PruneRun; readonly release: () => void }> {
    const release = this.store.hold('prune');
    const begun = this.retention.prune({ by: 'ana', why: 'the yearly one', dryRun: false });
    if (!begun.ok) throw new Error(begun.error);
    while (this.store.prunes === 0) await settled();
    return { run: begun.value, release };
  }

  /** Waits for the end of a run; pauses of it pass at once. */
  async ended(run: PruneRun): Promise<void> {
    while (run.state === 'running') {
      await settled();
      if (run.state === 'running' && this.clock.waiting > 0) this.clock.advance(500);
    }
  }

  /** The places whose bodies are gone. */
  gone(): number[] {
    return this.log.rows.filter(({ canonical }) => canonical === undefined).map(({ seq }) => seq);
  }

  controls(): AuditRecord[] {
    const rows = this.log.rows.filter(({ kind, canonical }) => kind === 'control' && canonical !== undefined);
    return rows.map(({ canonical = '' }) => JSON.parse(canonical));
  }
}

/** How many records a run has dropped, under each policy version. */
export const dropped = ({ tally }: PruneRun): Record<string, number> =>
  Object.fromEntries([...tally.rules.values()].map(({ rule, records }) => [rule.version, records]));
