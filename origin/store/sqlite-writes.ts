import type { DatabaseSync } from 'node:sqlite';
import type { WriteRequest } from './sqlite-messages.ts';
import { prune, saveHold } from './sqlite-retention.ts';
import { type Statements, statementsOf } from './sqlite-statements.ts';
import { cosign, publish } from './sqlite-tree.ts';
import type { StoredRow } from './store.ts';

/** The writes, each in a transaction of its own that either holds or leaves nothing. */
export function prepareWrites(db: DatabaseSync): (request: WriteRequest) => void {
  const sql = statementsOf(db);
  return (request) => inTransaction(db, () => write(sql, request));
}

function write(sql: Statements, request: WriteRequest): void {
  switch (request.op) {
    case 'append':
      append(sql, request.rows);
      break;
    case 'saveCircuits': {
      const save = sql('REPLACE INTO circuits (endpoint, state, at) VALUES (?, ?, ?)');
      for (const { endpoint, state, at } of request.rows) save.run(endpoint, state, at);
      break;
    }
    case 'publish':
      publish(sql, request.checkpoint, request.roots);
      break;
    case 'cosign':
      cosign(sql, request.number, request.lines);
      break;
    case 'keepPolicies': {
      const keep = sql('INSERT INTO policies (sha256, name, version, stream, at) VALUES (?, ?, ?, ?, ?)');
      for (const { sha256, name, version, stream, at } of request.rows)
        keep.run(sha256, name, version, stream, at);
      break;
    }
    case 'prune':
      append(sql, [request.control]);
      prune(sql, request.control.id, request.seqs);
      break;
    case 'saveHold':
      append(sql, [request.control]);
      saveHold(sql, request.hold);
      break;
    case 'probe':
      sql('UPDATE liveness SET probes = probes + 1').run();
      break;
  }
}

function append(sql: Statements, rows: readonly StoredRow[]): void {
  const insert = sql(
    `INSERT INTO records (seq, id, kind, at, request_id, pending_id, tenant, canonical, leaf)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  // Read inside the transaction: a place counted earlier may have been taken since.
  let seq = Number(sql('SELECT max(seq) AS seq FROM records').get()?.seq ?? -1);
  for (const row of rows) {
    seq += 1;
    const links = [row.requestId ?? null, row.pendingId ?? null, row.tenant ?? null];
    insert.run(seq, row.id, row.kind, row.at, ...links, row.canonical, row.leaf);
  }
}

/**
 * IMMEDIATE takes the write lock at the start, within the busy limit. Should even the roll-back fail, the
 * error leaves the thread, which ends it and with it the transaction.
 */
function inTransaction(db: DatabaseSync, work: () => void): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    work();
    db.exec('COMMIT');
  } catch (error) {
    if (db.isTransaction) db.exec('ROLLBACK');
    throw error;
  }
}
