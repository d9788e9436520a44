-- Meaning and lifetime of every table and column: ../../SCHEMA.md

CREATE TABLE circuits (
  endpoint TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
