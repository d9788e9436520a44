import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../origin/store/store.ts';
import { aRow, someRows } from '../support/audit-records.ts';
import { aHold } from './behaviour-retention.ts';
import { aCheckpoint } from './behaviour-tree.ts';
import { TempLog } from './temp-log.ts';

const TABLES = [
  'records',
  'identity',
  'checkpoints',
  'cosignatures',
  'tile_roots',
  'policies',
  'prunings',
  'holds',
];

/** Fills each table: of the rows 0 to 6 the rows 1 and 2 are pruned, and 3 is a call without an end. */
async function fill(store: Store): Promise<void> {
  await store.append([...someRows(3), aRow('pending')]);
  await store.prune(aRow('control', { id: '01JZZZZZZZZZZZZZZZZZZZZZZZ' }), [1, 2]);
  await store.saveHold(aRow('control'), aHold('h-1', { tenant: 'other' }));
  await store.append([aRow('refused', { tenant: 'other' })]);
  await store.publish(aCheckpoint(3, { cosignatures: ['— w x'] }), [
    { level: 1, index: 0, hash: new Uint8Array(32) },
  ]);
  await store.publish(aCheckpoint(3), []);
  await store.keepPolicies([
    { sha256: 'aa', name: 'eu', version: '1', stream: Uint8Array.of(1), at: aHold('h').at },
  ]);
}

const EMPTIED = 'canonical = NULL, request_id = NULL, pending_id = NULL, tenant = NULL';
const PRUNING = `INSERT INTO prunings (first, last, control)`;
const TOLD = `'01JZZZZZZZZZZZZZZZZZZZZZZZ'`;
const AT = `'2026-01-01T00:00:00.000Z'`;

describe('somebody who opens the file of a log directly', () => {
  let log: TempLog;

  beforeEach(async () => {
    log = await TempLog.make();
    const store = await log.open();
    await fill(store);
    await store.close();
  });

  afterEach(() => log[Symbol.asyncDispose]());

  it.each([
    ['change a record', `UPDATE records SET tenant = 'third' WHERE seq = 0`],
    ['empty a record without a pruning', `UPDATE records SET ${EMPTIED} WHERE seq = 0`],
    ['give a pruned record another body', `UPDATE records SET canonical = '{}' WHERE seq = 1`],
    ['give a pruned record another leaf', `UPDATE records SET ${EMPTIED}, leaf = zeroblob(32) WHERE seq = 1`],
    ['give a pruned record another time', `UPDATE records SET ${EMPTIED}, at = 'x' WHERE seq = 1`],
    ['move a pruned record', `UPDATE records SET ${EMPTIED}, seq = 99 WHERE seq = 1`],
    [
      'half empty a record',
      `${PRUNING} VALUES (0, 0, ${TOLD}); UPDATE records SET tenant = NULL WHERE seq = 0`,
    ],
    ['remove a record', 'DELETE FROM records WHERE seq = 1'],
    ['empty the log', 'DELETE FROM records'],
    [
      'replace a record in its place',
      `REPLACE INTO records SELECT 0, 'new', kind, at, NULL, NULL, NULL, canonical, leaf FROM records WHERE seq = 3`,
    ],
    [
      'replace a record by its id',
      `REPLACE INTO records SELECT 7, id, kind, at, NULL, NULL, NULL, 'forged', leaf FROM records WHERE seq = 0`,
    ],
    [
      'dress an update as an insert',
      `INSERT INTO records SELECT * FROM records WHERE true ON CONFLICT DO UPDATE SET tenant = 'x'`,
    ],
    [
      'leave a place out',
      `INSERT INTO records SELECT 9, 'new', kind, at, NULL, NULL, NULL, canonical, leaf FROM records WHERE seq = 0`,
    ],
    [
      'take a place before the first',
      `INSERT INTO records SELECT -1, 'new', kind, at, NULL, NULL, NULL, canonical, leaf FROM records WHERE seq = 0`,
    ],
    [
      'add a record without a leaf',
      `INSERT INTO records SELECT 7, 'new', kind, at, NULL, NULL, NULL, canonical, x'00' FROM records WHERE seq = 0`,
    ],
    [
      'add a record without a body',
      `INSERT INTO records SELECT 7, 'new', kind, at, NULL, NULL, NULL, NULL, leaf FROM records WHERE seq = 0`,
    ],
    ['rename the zone', `UPDATE identity SET zone = 'us'`],
    ['add a zone', `REPLACE INTO identity VALUES (1, 'us')`],
    ['remove the zone', 'DELETE FROM identity'],
    ['prune what no record tells of', `${PRUNING} VALUES (0, 0, 'unknown')`],
    [
      'prune what a record of another kind tells of',
      `${PRUNING} SELECT 0, 0, id FROM records WHERE kind = 'refused' AND seq = 6`,
    ],
    ['prune what came after the record that tells of it', `${PRUNING} VALUES (6, 6, ${TOLD})`],
    ['prune a call that has no end', `${PRUNING} VALUES (3, 3, ${TOLD})`],
    ['prune around a pruning', `${PRUNING} VALUES (0, 2, ${TOLD})`],
    ['replace a pruning', `REPLACE INTO prunings (first, last, control) VALUES (1, 3, ${TOLD})`],
    [
      'prune what is under a hold',
      `${PRUNING} SELECT 6, 6, id FROM records WHERE seq = 7; UPDATE records SET ${EMPTIED} WHERE seq = 6`,
    ],
    ['change a pruning', 'UPDATE prunings SET last = 3'],
    ['remove a pruning', 'DELETE FROM prunings'],
    ['change a hold', `UPDATE holds SET tenant = 'third'`],
    [
      'release a hold and change it',
      `UPDATE holds SET released_at = 'x', released_by = 'x', tenant = 'third'`,
    ],
    ['release a hold for nobody', `UPDATE holds SET released_at = 'x'`],
    [
      'replace a hold by its id',
      `REPLACE INTO holds (id, by, why, at, released_at, released_by) SELECT id, by, why, at, 'x', 'x' FROM holds`,
    ],
    [
      'replace a hold in its place',
      `REPLACE INTO holds (place, id, by, why, at) SELECT place, 'new', by, why, at FROM holds`,
    ],
    ['remove a hold', 'DELETE FROM holds'],
    ['change a checkpoint', 'UPDATE checkpoints SET size = 2'],
    ['remove a checkpoint', 'DELETE FROM checkpoints WHERE number = 1'],
    ['replace a checkpoint', `REPLACE INTO checkpoints VALUES (1, 3, zeroblob(32), ${AT}, NULL, '')`],
    [
      'leave a checkpoint out',
      `INSERT INTO checkpoints SELECT 3, size, root, at, hour, note FROM checkpoints WHERE number = 1`,
    ],
    [
      'sign for less',
      `INSERT INTO checkpoints SELECT 2, 2, root, at, hour, note FROM checkpoints WHERE number = 1`,
    ],
    ['sign for another root', `INSERT INTO checkpoints VALUES (2, 3, zeroblob(32), ${AT}, NULL, '')`],
    ['sign for more than there is', `INSERT INTO checkpoints VALUES (2, 99, zeroblob(32), ${AT}, NULL, '')`],
    ['change a cosignature', `UPDATE cosignatures SET line = 'x'`],
    ['remove a cosignature', 'DELETE FROM cosignatures'],
    ['replace a cosignature', `REPLACE INTO cosignatures (place, checkpoint, line) VALUES (1, 0, 'x')`],
    ['change a tile root', 'UPDATE tile_roots SET hash = randomblob(32)'],
    ['remove a tile root', 'DELETE FROM tile_roots'],
    ['replace a tile root', `REPLACE INTO tile_roots VALUES (1, 0, randomblob(32))`],
    ['leave a tile root out', 'INSERT INTO tile_roots VALUES (1, 2, zeroblob(32))'],
    ['change a policy', `UPDATE policies SET stream = x'00'`],
    ['remove a policy', 'DELETE FROM policies'],
  ])('cannot %s', (_, sql) => {
    const intruder = log.intrude();
    const content = () => TABLES.map((table) => intruder.prepare(`SELECT * FROM ${table}`).all());
    const before = content();
    intruder.exec('BEGIN');
    expect(() => intruder.exec(sql)).toThrow(
      /append-only|next|already|never|CHECK|one identity|taken|pruning|released|takes back|more records|without its body/,
    );
    intruder.exec('ROLLBACK');
    expect(content()).toEqual(before);
  });

  it('cannot replace a policy: the first one of its hash stays', () => {
    const intruder = log.intrude();
    const stream = () => intruder.prepare('SELECT hex(stream) AS stream FROM policies').all();
    intruder.exec(`REPLACE INTO policies VALUES ('aa', 'eu', '1', x'02', ${AT})`);
    expect(stream()).toEqual([{ stream: '01' }]);
  });
});
