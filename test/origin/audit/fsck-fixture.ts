import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pino from 'pino';
import { encodeRecord } from '../../../origin/audit/encode.ts';
import { type FsckReport, fsck } from '../../../origin/audit/fsck.ts';
import { shelve } from '../../../origin/audit/policy-shelf.ts';
import { Published } from '../../../origin/audit/published.ts';
import { createPublisher, type Publisher } from '../../../origin/audit/publisher.ts';
import { createRecordIds } from '../../../origin/audit/record-id.ts';
import { Retention } from '../../../origin/audit/retention.ts';
import { headFile } from '../../../origin/audit/signed-head.ts';
import { ownKeys } from '../../../origin/audit/signed-tree.ts';
import { openSqliteReader, openSqliteStore } from '../../../origin/store/sqlite.ts';
import type { Store } from '../../../origin/store/store.ts';
import type { AuditRecord, RecordKind } from '../../../shared/record.ts';
import { aRecord } from '../../support/audit-records.ts';
import { ManualClock, settled } from '../../support/manual-clock.ts';
import { signer } from './publisher-fixture.ts';
import { DAY, policyOf } from './retention-fixture.ts';

const policy = policyOf('1.0.0', 30);

/** An open log with its publisher, as an origin has it. */
export class OpenLog {
  readonly clock: ManualClock;
  readonly store: Store;
  readonly publisher: Publisher;
  readonly #newId: () => string;

  private constructor(store: Store, clock: ManualClock, path: string) {
    this.store = store;
    this.clock = clock;
    this.#newId = createRecordIds(clock);
    const parts = { store, clock, logger: pino({ enabled: false }) };
    const rule = { log: ownKeys(signer), witnesses: [], quorum: 0 };
    const published = new Published({ ...parts, witnesses: [], rule });
    this.publisher = createPublisher({ ...parts, head: headFile(`${path}.checkpoint`), signer, published });
  }

  static async open(path: string, at: number): Promise<OpenLog> {
    const store = await openSqliteStore({ path, zone: 'eu' });
    const log = new OpenLog(store, new ManualClock(at), path);
    await log.publisher.start();
    return log;
  }

  record(kind: RecordKind, members: Partial<AuditRecord> = {}): AuditRecord {
    const cites = { policy: policy.name, policy_version: policy.version, policy_sha256: policy.sha256 };
    const at = new Date(this.clock.now()).toISOString();
    return aRecord(kind, { ...cites, id: this.#newId(), at, ...members });
  }

  write(...records: readonly AuditRecord[]): Promise<void> {
    return this.store.append(records.map(encodeRecord));
  }

  /** Three records for each. */
  async calls(count: number): Promise<void> {
    for (let call = 0; call < count; call += 1) {
      const request_id = `req-${call}`;
      const pending = this.record('pending', { request_id });
      const of = { request_id, pending_id: pending.id };
      await this.write(pending, this.record('served', of), this.record('completed', of));
    }
  }

  async publish(): Promise<void> {
    this.clock.advance(3_600_000);
    await this.publisher.publish();
  }

  async keepPolicies(): Promise<void> {
    await shelve(this.store, this.clock, [policy]);
  }

  async prune(): Promise<void> {
    const { store, clock } = this;
    const parts = { store, clock, newId: this.#newId, logger: pino({ enabled: false }) };
    const policies = new Map([[policy.name, policy]]);
    const retention = new Retention({ ...parts, jurisdiction: 'eu', policies, isShut: () => false });
    await retention.place({ tenant: 'other' }, { by: 'ana', why: 'case' });
    const run = retention.prune({ by: 'ana', why: 'yearly', dryRun: false });
    while (run.ok && run.value.state === 'running') await settled();
  }

  async close(): Promise<void> {
    await this.publisher.close();
    await this.store.close();
  }
}

const START = Date.UTC(2026, 0, 1, 9, 30);

/**
 * A log of 310 records or so: ten calls that are pruned, a call that is open, checkpoints of several hours, one
 * full tile, a policy and a hold; the origin has stopped.
 */
export async function makeLog(): Promise<SavedLog> {
  const saved = new SavedLog(await mkdtemp(join(tmpdir(), 'residency-fsck-')));
  const log = await OpenLog.open(saved.path, START);
  await log.keepPolicies();
  await log.calls(10);
  await log.publish();
  log.clock.advance(30 * DAY);
  await log.publish();
  await log.prune();
  await log.publish();
  await log.calls(90);
  await log.write(log.record('pending', { request_id: 'req-open' }), log.record('refused'));
  await log.publish();
  await log.close();
  return saved;
}

/** The files of a log that no origin has open. */
export class SavedLog {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  get path(): string {
    return join(this.folder, 'eu.db');
  }

  get head(): string {
    return `${this.path}.checkpoint`;
  }

  async copy(): Promise<SavedLog> {
    const folder = await mkdtemp(join(tmpdir(), 'residency-fsck-'));
    await cp(this.folder, folder, { recursive: true });
    return new SavedLog(folder);
  }

  remove(): Promise<void> {
    return rm(this.folder, { recursive: true });
  }

  /** Goes on with the log, a year later. */
  open(): Promise<OpenLog> {
    return OpenLog.open(this.path, START + 365 * DAY);
  }

  /** Does what the guards of the database forbid, and leaves no trace of it in them. */
  tamper(...changes: readonly string[]): void {
    const db = new DatabaseSync(this.path);
    const guards = db.prepare(`SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'`).all();
    for (const { name } of guards) db.exec(`DROP TRIGGER ${name}`);
    for (const change of changes) db.exec(change);
    for (const { sql } of guards) db.exec(String(sql));
    db.close();
  }

  intrude(change: string): void {
    const db = new DatabaseSync(this.path);
    db.exec(change);
    db.close();
  }

  ask(sql: string): Record<string, unknown> {
    const db = new DatabaseSync(this.path, { readOnly: true });
    const row = db.prepare(sql).get();
    db.close();
    return { ...row };
  }

  async check(keys = ownKeys(signer)): Promise<FsckReport> {
    const log = await openSqliteReader({ path: this.path, zone: 'eu' });
    const parts = { log, head: headFile(this.head), logName: signer.name };
    return await fsck({ ...parts, keys: { log: keys, witnesses: [] } }).finally(() => log.close());
  }

  /** The kinds of faults that are found, each once. */
  async faults(): Promise<string[]> {
    const { faults, ok } = await this.check();
    if (ok !== (faults.length === 0)) throw new Error('ok says another thing than the list');
    return [...new Set(faults.map(({ fault }) => fault))].sort();
  }
}
