import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, expect, it } from 'vitest';
import { decodeRecord } from '../../origin/audit/encode.ts';
import type { SequencedRow, Store } from '../../origin/store/store.ts';
import { leafHash } from '../../shared/merkle/hash.ts';
import { TempLog } from './temp-log.ts';

const APPENDER = new URL('./append-forever.ts', import.meta.url).pathname;
/** How many acknowledged groups each life of the process lasts. */
const LIVES = [1, 2, 40, 7, 90, 23];

/** Runs a process that appends, kills it once it has acknowledged so many groups, gives all it acknowledged. */
async function appendUntilKilled(path: string, groups: number): Promise<string[]> {
  const child = spawn(process.execPath, [APPENDER, path], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push(line);
    if (acknowledged.length === groups) child.kill('SIGKILL');
  }
  expect(await exit).toEqual([null, 'SIGKILL']);
  return acknowledged.flatMap((line) => line.split(' '));
}

async function wholeLog(store: Store): Promise<SequencedRow[]> {
  const log: SequencedRow[] = [];
  for (;;) {
    const page = await store.after(log.at(-1)?.seq ?? -1, 1_000);
    if (page.length === 0) return log;
    log.push(...page);
  }
}

describe('a process that is killed while it appends', () => {
  it('leaves every acknowledged record in the log, no gap, and no group in pieces', async () => {
    await using temp = await TempLog.make();
    const acknowledged: string[] = [];
    for (const groups of LIVES) acknowledged.push(...(await appendUntilKilled(temp.path, groups)));

    const store = await temp.open();
    const log = await wholeLog(store);
    const kept = new Set(log.map(({ id }) => id));
    expect(acknowledged.filter((id) => !kept.has(id))).toEqual([]);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index));

    const groups = Map.groupBy(log, ({ requestId }) => requestId);
    for (const rows of groups.values()) {
      const sizes = new Set(rows.map((row) => decodeRecord(row).workload));
      expect([...sizes]).toEqual([`group of ${rows.length}`]);
    }
    for (const { canonical = '', leaf } of log) expect(leafHash(canonical).equals(leaf)).toBe(true);
    expect(temp.intrude().prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
  });
});
