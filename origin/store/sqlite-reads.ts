import type { DatabaseSync } from 'node:sqlite';
import { damage } from './sqlite-inspect.ts';
import type { ReadRequest } from './sqlite-messages.ts';
import { type Statements, statementsOf } from './sqlite-statements.ts';
import { hashes } from './sqlite-tree.ts';
import { READ_MAX } from './store.ts';

const RECORD = 'SELECT seq, id, kind, at, request_id, pending_id, tenant, canonical, leaf FROM records';

const CHECKPOINT = `SELECT number, size, root, at, hour, note,
  (SELECT json_group_array(line ORDER BY place) FROM cosignatures WHERE checkpoint = number) AS cosignatures
  FROM checkpoints`;

const POLICY = 'SELECT sha256, name, version, stream, at FROM policies';

const clamp = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 0), READ_MAX);

/** The reads, those of the log in the order of `seq`: rows by the names of their columns. */
export function prepareReads(db: DatabaseSync): (request: ReadRequest) => readonly object[] {
  const sql = statementsOf(db);
  return (request) => read(sql, request);
}

/** A list with a line for each read. */
function read(sql: Statements, request: ReadRequest): readonly object[] {
  switch (request.op) {
    case 'size':
      return sql('SELECT coalesce(max(seq) + 1, 0) AS size FROM records').all();
    case 'openPendings':
      return sql(
        `${RECORD} WHERE seq IN (SELECT seq FROM open_pendings ORDER BY seq LIMIT ?) ORDER BY seq`,
      ).all(clamp(request.limit));
    case 'ofRequest':
      return sql(`${RECORD} WHERE request_id = ? AND tenant = ? ORDER BY seq DESC LIMIT ?`)
        .all(request.requestId, request.tenant, clamp(request.limit))
        .reverse();
    case 'after':
      return sql(`${RECORD} WHERE seq > ? ORDER BY seq LIMIT ?`).all(request.seq, clamp(request.limit));
    case 'latest':
      return sql(`${RECORD} ORDER BY seq DESC LIMIT ?`).all(clamp(request.limit)).reverse();
    case 'byId':
      return sql(`${RECORD} WHERE id = ?`).all(request.id);
    case 'lastMismatches':
      return sql(
        `${RECORD} WHERE seq IN (
          SELECT max(seq) FROM records
          WHERE kind = 'violation' AND json_extract(canonical, '$.region_verdict') = 'mismatch'
          GROUP BY json_extract(canonical, '$.endpoint')
        ) AND seq > ? ORDER BY seq LIMIT ?`,
      ).all(request.seq, clamp(request.limit));
    case 'controlsOf':
      return sql(
        `${RECORD} WHERE kind = 'control' AND json_extract(canonical, '$.endpoint') = ? AND seq > ?
        ORDER BY seq LIMIT ?`,
      ).all(request.endpoint, request.seq, clamp(request.limit));
    case 'circuits':
      return sql('SELECT endpoint, state, at FROM circuits WHERE endpoint > ? ORDER BY endpoint LIMIT ?').all(
        request.after,
        clamp(request.limit),
      );
    case 'hashes':
      return [{ joined: hashes(sql, request.level, request.first, clamp(request.limit)) }];
    case 'latestCheckpoint':
      return sql(`${CHECKPOINT} ORDER BY number DESC LIMIT 1`).all();
    case 'checkpoints':
      return sql(`${CHECKPOINT} WHERE number > ? ORDER BY number LIMIT ?`).all(
        request.after,
        clamp(request.limit),
      );
    case 'checkpointBefore':
      return sql(`${CHECKPOINT} WHERE at <= ? ORDER BY at DESC, number DESC LIMIT 1`).all(request.at);
    case 'checkpointFrom':
      return sql(`${CHECKPOINT} WHERE at >= ? ORDER BY at, number LIMIT 1`).all(request.at);
    case 'checkpointOver':
      return sql(`${CHECKPOINT} WHERE size > ? ORDER BY size, number LIMIT 1`).all(request.seq);
    case 'policyOf':
      return sql(`${POLICY} WHERE sha256 = ?`).all(request.sha256);
    case 'policies':
      return sql(`${POLICY} WHERE sha256 > ? ORDER BY sha256 LIMIT ?`).all(
        request.after,
        clamp(request.limit),
      );
    case 'holds':
      return sql('SELECT * FROM holds ORDER BY place').all();
    case 'prunings':
      return sql(
        `SELECT first, last, control FROM prunings
        WHERE first >= coalesce((SELECT max(first) FROM prunings WHERE first <= ?), 0) AND last >= ?
        ORDER BY first LIMIT ?`,
      ).all(request.place, request.place, clamp(request.limit));
    case 'damage':
      return damage(sql);
  }
}
