import type { DatabaseSync } from 'node:sqlite';
import type { ReadRequest, WriteRequest } from './sqlite-messages.ts';
import { READ_MAX, type StoredRow } from './store.ts';

const COLUMNS = 'seq, id, kind, at, request_id, pending_id, tenant, canonical, leaf';

/** The writes, each in a transaction of its own that either holds or leaves nothing. */
export function prepareWrites(db: DatabaseSync): (request: WriteRequest) => void {
  const head = db.prepare('SELECT max(seq) AS seq FROM records');
  const insert = db.prepare(`INSERT INTO records (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const saveCircuit = db.prepare('REPLACE INTO circuits (endpoint, state, at) VALUES (?, ?, ?)');
  const probe = db.prepare('UPDATE liveness SET probes = probes + 1');
  // Read inside the transaction: a place counted earlier may have been taken since.
  const nextSeq = (): number => Number(head.get()?.seq ?? -1) + 1;
  const add = (row: StoredRow, seq: number): void => {
    const links = [row.requestId ?? null, row.pendingId ?? null, row.tenant ?? null];
    insert.run(seq, row.id, row.kind, row.at, ...links, row.canonical, row.leaf);
  };
  return (request) => {
    switch (request.op) {
      case 'append':
        return inTransaction(db, () => {
          const first = nextSeq();
          for (const [index, row] of request.rows.entries()) add(row, first + index);
        });
      case 'saveCircuits':
        return inTransaction(db, () => {
          for (const { endpoint, state, at } of request.rows) saveCircuit.run(endpoint, state, at);
        });
      case 'probe':
        return inTransaction(db, () => void probe.run());
    }
  };
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

const clamp = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 0), READ_MAX);

/** The reads, those of the log in the order of `seq`: rows by the names of their columns. */
export function prepareReads(db: DatabaseSync): (request: ReadRequest) => readonly object[] {
  const open = db.prepare(
    `SELECT ${COLUMNS} FROM records WHERE seq IN (SELECT seq FROM open_pendings ORDER BY seq LIMIT ?) ORDER BY seq`,
  );
  const ofRequest = db.prepare(
    `SELECT ${COLUMNS} FROM records WHERE request_id = ? AND tenant = ? ORDER BY seq DESC LIMIT ?`,
  );
  const after = db.prepare(`SELECT ${COLUMNS} FROM records WHERE seq > ? ORDER BY seq LIMIT ?`);
  const latest = db.prepare(`SELECT ${COLUMNS} FROM records ORDER BY seq DESC LIMIT ?`);
  const byId = db.prepare(`SELECT ${COLUMNS} FROM records WHERE id = ?`);
  // Prepared when it is asked for: a log that an older program wrote has no such table, and is read all the same.
  const circuits = () =>
    db.prepare('SELECT endpoint, state, at FROM circuits WHERE endpoint > ? ORDER BY endpoint LIMIT ?');
  return (request) => {
    switch (request.op) {
      case 'openPendings':
        return open.all(clamp(request.limit));
      case 'ofRequest':
        return ofRequest
          .all(request.requestId, request.tenant, clamp(request.limit))

          .reverse();
      case 'after':
        return after.all(request.seq, clamp(request.limit));
      case 'latest':
        return latest.all(clamp(request.limit)).reverse();
      case 'byId':
        return byId.all(request.id);
      case 'circuits':
        return circuits().all(request.after, clamp(request.limit));
    }
  };
}
