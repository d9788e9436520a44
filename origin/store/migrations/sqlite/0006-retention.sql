-- Meaning and lifetime of every table and column: ../../SCHEMA.md

CREATE TABLE holds (
  place INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tenant TEXT,
  from_at TEXT CHECK (from_at GLOB '????-??-??T??:??:??.???Z'),
  to_at TEXT CHECK (to_at GLOB '????-??-??T??:??:??.???Z'),
  by TEXT NOT NULL,
  why TEXT NOT NULL,
  at TEXT NOT NULL,
  released_at TEXT,
  released_by TEXT,
  CHECK ((released_at IS NULL) = (released_by IS NULL))
) STRICT;

CREATE INDEX holds_in_force ON holds (tenant) WHERE released_at IS NULL;

CREATE TRIGGER holds_are_not_replaced BEFORE INSERT ON holds
WHEN EXISTS (SELECT 1 FROM holds WHERE id = NEW.id OR place = NEW.place)
BEGIN SELECT RAISE(ABORT, 'a hold of this id is there already'); END;

CREATE TRIGGER holds_are_only_released BEFORE UPDATE ON holds
WHEN OLD.released_at IS NOT NULL OR NEW.released_at IS NULL
  OR (NEW.place, NEW.id, NEW.tenant, NEW.from_at, NEW.to_at, NEW.by, NEW.why, NEW.at)
    IS NOT (OLD.place, OLD.id, OLD.tenant, OLD.from_at, OLD.to_at, OLD.by, OLD.why, OLD.at)
BEGIN SELECT RAISE(ABORT, 'a hold is released, once, and not changed'); END;

CREATE TRIGGER holds_are_not_removed BEFORE DELETE ON holds
BEGIN SELECT RAISE(ABORT, 'holds are never removed'); END;

-- Ranges of places, none of which overlap; `control` tells in the log of the pruning.
CREATE TABLE prunings (
  first INTEGER PRIMARY KEY CHECK (first >= 0),
  last INTEGER NOT NULL CHECK (last >= first),
  control TEXT NOT NULL
) STRICT;

CREATE TRIGGER prunings_are_told_in_the_log BEFORE INSERT ON prunings
BEGIN
  SELECT RAISE(ABORT, 'a pruning that no later record of the log tells of')
  WHERE NOT EXISTS (SELECT 1 FROM records WHERE id = NEW.control AND kind = 'control' AND seq > NEW.last);
  SELECT RAISE(ABORT, 'a pruning of what is pruned already')
  WHERE (SELECT last FROM prunings WHERE first <= NEW.last ORDER BY first DESC LIMIT 1) >= NEW.first;
  SELECT RAISE(ABORT, 'a pruning of a call that has no end')
  FROM open_pendings WHERE seq BETWEEN NEW.first AND NEW.last;
END;

CREATE TRIGGER prunings_are_not_changed BEFORE UPDATE ON prunings
BEGIN SELECT RAISE(ABORT, 'prunings are append-only'); END;

CREATE TRIGGER prunings_are_not_removed BEFORE DELETE ON prunings
BEGIN SELECT RAISE(ABORT, 'prunings are append-only'); END;

ALTER TABLE records ALTER COLUMN canonical DROP NOT NULL;

-- What a record must meet to be appended, in one trigger: each one costs every append.
DROP TRIGGER records_have_no_gap;
DROP TRIGGER records_are_not_replaced;

CREATE TRIGGER records_are_appended BEFORE INSERT ON records
BEGIN
  SELECT RAISE(ABORT, 'seq is not the next place in the log')
  WHERE NEW.seq IS NOT (SELECT coalesce(max(seq) + 1, 0) FROM records);
  -- REPLACE removes the row in its way without firing the trigger on DELETE, so it has to fail before that.
  SELECT RAISE(ABORT, 'a record of this id is there already') FROM records WHERE id = NEW.id;
  SELECT RAISE(ABORT, 'a record without its body') WHERE NEW.canonical IS NULL;
END;

DROP TRIGGER records_are_not_changed;

CREATE TRIGGER records_are_only_pruned BEFORE UPDATE ON records
BEGIN
  SELECT RAISE(ABORT, 'records are append-only')
  WHERE (NEW.seq, NEW.id, NEW.kind, NEW.at, NEW.leaf) IS NOT (OLD.seq, OLD.id, OLD.kind, OLD.at, OLD.leaf)
    OR coalesce(NEW.canonical, NEW.request_id, NEW.pending_id, NEW.tenant) IS NOT NULL
    OR coalesce((SELECT last FROM prunings WHERE first <= OLD.seq ORDER BY first DESC LIMIT 1), -1) < OLD.seq;
  SELECT RAISE(ABORT, 'records under a hold are append-only')
  FROM holds WHERE released_at IS NULL
    AND (tenant IS NULL OR tenant = OLD.tenant)
    AND (from_at IS NULL OR from_at <= OLD.at)
    AND (to_at IS NULL OR OLD.at <= to_at);
END;
