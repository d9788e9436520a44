-- Meaning and lifetime of every table and column: ../../SCHEMA.md

CREATE TABLE identity (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  zone TEXT NOT NULL
) STRICT;

CREATE TRIGGER identity_is_fixed BEFORE UPDATE ON identity
BEGIN SELECT RAISE(ABORT, 'the identity of a log is never changed'); END;

CREATE TRIGGER identity_stays BEFORE DELETE ON identity
BEGIN SELECT RAISE(ABORT, 'the identity of a log is never removed'); END;

CREATE TRIGGER identity_is_single BEFORE INSERT ON identity WHEN EXISTS (SELECT 1 FROM identity)
BEGIN SELECT RAISE(ABORT, 'a log has one identity'); END;

CREATE TABLE records (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL,
  at TEXT NOT NULL,
  request_id TEXT,
  pending_id TEXT,
  tenant TEXT,
  canonical TEXT NOT NULL,
  leaf BLOB NOT NULL CHECK (length(leaf) = 32)
) STRICT;

CREATE INDEX records_by_request ON records (request_id, tenant, seq) WHERE request_id IS NOT NULL;

CREATE TRIGGER records_are_not_changed BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;

CREATE TRIGGER records_are_not_removed BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only'); END;

CREATE TRIGGER records_have_no_gap BEFORE INSERT ON records
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq) + 1, 0) FROM records)
BEGIN SELECT RAISE(ABORT, 'seq is not the next place in the log'); END;

-- REPLACE removes the row in its way without firing the trigger on DELETE, so it has to fail before that.
CREATE TRIGGER records_are_not_replaced BEFORE INSERT ON records
WHEN EXISTS (SELECT 1 FROM records WHERE id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a record of this id is there already'); END;

CREATE TABLE open_pendings (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE
) STRICT;

CREATE TRIGGER pending_opens AFTER INSERT ON records WHEN NEW.kind = 'pending'
BEGIN INSERT INTO open_pendings (seq, id) VALUES (NEW.seq, NEW.id); END;

CREATE TRIGGER pending_ends AFTER INSERT ON records
WHEN NEW.kind IN ('failed', 'completed', 'interrupted', 'violation', 'abandoned') AND NEW.pending_id IS NOT NULL
BEGIN DELETE FROM open_pendings WHERE id = NEW.pending_id; END;

CREATE TABLE liveness (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  probes INTEGER NOT NULL
) STRICT;

INSERT INTO liveness (one, probes) VALUES (1, 0);
