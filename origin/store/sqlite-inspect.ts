import { schemaAt } from './sqlite-schema.ts';
import type { Statements } from './sqlite-statements.ts';

/** Findings of SQLite that are listed at most; one page that is gone can bring thousands. */
const FINDINGS_MAX = 100;

/** What is wrong with the form of a database. */
export const damage = (sql: Statements): { readonly finding: string }[] =>
  [...unsound(sql), ...drifted(sql)].map((finding) => ({ finding }));

/** Its messages name tables, indexes, pages and rows by number (https://www.sqlite.org/pragma.html#pragma_integrity_check). */
const unsound = (sql: Statements): string[] =>
  sql(`PRAGMA integrity_check(${FINDINGS_MAX})`)
    .all()
    .map(({ integrity_check }) => String(integrity_check))
    .filter((finding) => finding !== 'ok');

/** Without its triggers a log is no longer append-only, and nothing else would show that they are gone. */
function drifted(sql: Statements): string[] {
  const meant = schemaAt(Number(sql('PRAGMA user_version').get()?.user_version));
  const found = new Map(
    sql("SELECT type || ' ' || name AS name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
      .all()
      .map(({ name, sql: text }) => [String(name), String(text)]),
  );
  const wrong = [...meant].filter(([name, text]) => found.get(name) !== text);
  const strange = [...found.keys()].filter((name) => !meant.has(name));
  return [
    ...wrong.map(([name]) => `the ${name} is ${found.has(name) ? 'not as this program makes it' : 'gone'}`),
    ...strange.map((name) => `the ${name} is not of this program`),
  ];
}
