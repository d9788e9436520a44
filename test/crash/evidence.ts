import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { cosignedNote } from '../../origin/audit/cosigned.ts';
import { decodeRecord } from '../../origin/audit/encode.ts';
import { fsck } from '../../origin/audit/fsck.ts';
import { headFile } from '../../origin/audit/signed-head.ts';
import type { LogInspector } from '../../origin/store/log-inspector.ts';
import { openSqliteReader } from '../../origin/store/sqlite.ts';
import type { SequencedRow } from '../../origin/store/store.ts';
import { encodeBase64url } from '../../shared/base64.ts';
import { Frontier } from '../../shared/merkle/frontier.ts';
import { sameBytes } from '../../shared/merkle/hash.ts';
import { openCheckpoint } from '../../shared/open-checkpoint.ts';
import { receiptSchema } from '../../shared/receipt.ts';
import { END_KINDS } from '../../shared/record.ts';
import { verifyReceipt } from '../../shared/verify/single.ts';
import { checkpointKeys, type Trust } from '../../shared/verify/trust.ts';

/** What the world outside holds of a log, and whether the log holds to it. */
export class Evidence {
  readonly receipts: string[] = [];
  /** Signed notes as they were shown, with the lines of witnesses. */
  readonly #notes = new Set<string>();
  readonly #database: string;
  readonly #logName: string;
  readonly #trust: Trust;

  constructor(folder: string, logName: string, trust: Trust) {
    this.#database = join(folder, 'log.db');
    this.#logName = logName;
    this.#trust = trust;
  }

  get notes(): number {
    return this.#notes.size;
  }

  note(text: string): void {
    this.#notes.add(text);
  }

  /** A checkpoint in the file counts as signed, whoever has seen it. */
  async takeFile(): Promise<void> {
    const note = await readFile(`${this.#database}.checkpoint`, 'utf8').catch(() => undefined);
    if (note !== undefined) this.note(note);
  }

  /** What is wrong with a log that a crash has just left: a call without its end is not. */
  faultsAsLeft(): Promise<string[]> {
    return this.#reading((log) => this.#fsck(log));
  }

  /**
   * What is wrong with the log of an origin that has started again, while no call goes on.
   * @param forwarded how many attempts have reached an endpoint, or were on record before the first life
   */
  faults(forwarded: number): Promise<string[]> {
    return this.#reading(async (log) => {
      const rows = await rowsOf(log);
      const announced = rows.filter(({ kind }) => kind === 'pending').length;
      return [
        ...(announced < forwarded ? [`${forwarded} attempts were made, ${announced} are on record`] : []),
        ...(await this.#fsck(log)),
        ...this.#lostReceipts(rows),
        ...this.#notPrefixes(rows),
        ...(await this.#lostNotes(log)),
        ...wrongEnds(rows),
      ];
    });
  }

  async #reading<T>(work: (log: LogInspector) => Promise<T>): Promise<T> {
    const log = await openSqliteReader({ path: this.#database, zone: 'eu' });
    try {
      return await work(log);
    } finally {
      await log.close();
    }
  }

  get #keys() {
    return checkpointKeys(this.#trust, this.#logName);
  }

  async #fsck(log: LogInspector): Promise<string[]> {
    const head = headFile(`${this.#database}.checkpoint`);
    const { faults } = await fsck({ log, head, logName: this.#logName, keys: this.#keys });
    return faults.map((fault) => JSON.stringify(fault));
  }

  #lostReceipts(rows: readonly SequencedRow[]): string[] {
    const leaves = new Map(rows.map(({ id, leaf }) => [id, encodeBase64url(leaf)]));
    return this.receipts.flatMap((receipt) => {
      const { ok, faults } = verifyReceipt(receipt, this.#trust);
      const { rid, rec, leaf } = receiptSchema.parse(decodeJwt(receipt));
      return [
        ...(ok ? [] : [`the receipt of ${rid} does not verify: ${faults.map(({ reason }) => reason)}`]),
        ...(leaves.get(rec) === leaf ? [] : [`the record of the receipt of ${rid} is not in the log`]),
      ];
    });
  }

  /** The roots are of a tree that is built from the leaves alone, not read from what the log keeps of it. */
  #notPrefixes(rows: readonly SequencedRow[]): string[] {
    const tree = Frontier.empty();
    const roots = [tree.root()];
    for (const { leaf } of rows) {
      tree.append(leaf);
      roots.push(tree.root());
    }
    return [...this.#notes].flatMap((note) => {
      const opened = openCheckpoint(note, this.#keys);
      if (!opened.ok) return [`a checkpoint is ${opened.error.fault}`];
      const { size, root } = opened.value.checkpoint;
      const own = roots[size];
      return own !== undefined && sameBytes(own, root)
        ? []
        : [`the log does not begin with its first ${size}`];
    });
  }

  /** Line by line, as lines of witnesses come later. */
  async #lostNotes(log: LogInspector): Promise<string[]> {
    const kept = (await log.checkpoints(-1, 1_000)).map((row) => new Set(cosignedNote(row).split('\n')));
    const isKept = (note: string) => kept.some((lines) => note.split('\n').every((line) => lines.has(line)));
    return [...this.#notes].filter((note) => !isKept(note)).map((note) => `no longer kept: ${note}`);
  }
}

async function rowsOf(log: LogInspector): Promise<SequencedRow[]> {
  const rows: SequencedRow[] = [];
  for (;;) {
    const page = await log.after(rows.at(-1)?.seq ?? -1, 1_000);
    if (page.length === 0) return rows;
    rows.push(...page);
  }
}

function wrongEnds(rows: readonly SequencedRow[]): string[] {
  const records = rows.filter(({ canonical }) => canonical !== undefined).map(decodeRecord);
  const ends = new Map<string, number>();
  for (const { kind, pending_id = '' } of records)
    if (END_KINDS.some((end) => end === kind)) ends.set(pending_id, (ends.get(pending_id) ?? 0) + 1);
  return records
    .filter(({ kind, id }) => kind === 'pending' && ends.get(id) !== 1)
    .map(({ id, request_id }) => `the call ${request_id} has ${ends.get(id) ?? 0} ends`);
}
