-- Meaning and lifetime of every table and column: ../../SCHEMA.md

CREATE TABLE policies (
  sha256 TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  stream BLOB NOT NULL,
  at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER policies_stay_as_they_are BEFORE INSERT ON policies
WHEN EXISTS (SELECT 1 FROM policies WHERE sha256 = NEW.sha256)
BEGIN SELECT RAISE(IGNORE); END;

CREATE TRIGGER policies_are_not_changed BEFORE UPDATE ON policies
BEGIN SELECT RAISE(ABORT, 'policies are append-only'); END;

CREATE TRIGGER policies_are_not_removed BEFORE DELETE ON policies
BEGIN SELECT RAISE(ABORT, 'policies are append-only'); END;
