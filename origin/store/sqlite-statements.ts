import type { DatabaseSync, StatementSync } from 'node:sqlite';

/** Gives the statement of a text, made ready when it is first asked for and kept. */
export type Statements = (sql: string) => StatementSync;

/**
 * The statements of one connection. None is made ready before it is needed: the log of an older program lacks
 * tables that newer statements name, and is read all the same.
 */
export function statementsOf(db: DatabaseSync): Statements {
  const ready = new Map<string, StatementSync>();
  return (sql) => {
    const known = ready.get(sql);
    if (known !== undefined) return known;
    const statement = db.prepare(sql);
    ready.set(sql, statement);
    return statement;
  };
}
