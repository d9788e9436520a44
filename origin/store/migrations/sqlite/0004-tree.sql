-- Meaning and lifetime of every table and column: ../../SCHEMA.md

CREATE TABLE checkpoints (
  number INTEGER PRIMARY KEY,
  size INTEGER NOT NULL CHECK (size >= 0),
  root BLOB NOT NULL CHECK (length(root) = 32),
  at TEXT NOT NULL CHECK (at GLOB '????-??-??T??:??:??.???Z'),
  hour TEXT,
  note TEXT NOT NULL
) STRICT;

CREATE INDEX checkpoints_by_time ON checkpoints (at, number);

CREATE INDEX checkpoints_by_size ON checkpoints (size, number);

CREATE TRIGGER checkpoints_follow BEFORE INSERT ON checkpoints
BEGIN
  SELECT RAISE(ABORT, 'number is not the next one of the checkpoints')
  WHERE NEW.number IS NOT (SELECT coalesce(max(number) + 1, 0) FROM checkpoints);
  SELECT RAISE(ABORT, 'a checkpoint of more records than the log has')
  WHERE NEW.size > (SELECT coalesce(max(seq) + 1, 0) FROM records);
  SELECT RAISE(ABORT, 'a checkpoint that takes back what was signed')
  FROM (SELECT size, root FROM checkpoints ORDER BY number DESC LIMIT 1) AS newest
  WHERE NEW.size < newest.size OR (NEW.size = newest.size AND NEW.root IS NOT newest.root);
END;

CREATE TRIGGER checkpoints_are_not_changed BEFORE UPDATE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are append-only'); END;

CREATE TRIGGER checkpoints_are_not_removed BEFORE DELETE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints are append-only'); END;

CREATE TABLE cosignatures (
  place INTEGER PRIMARY KEY,
  checkpoint INTEGER NOT NULL REFERENCES checkpoints (number),
  line TEXT NOT NULL,
  UNIQUE (checkpoint, line)
) STRICT;

CREATE TRIGGER cosignatures_are_put_once BEFORE INSERT ON cosignatures
BEGIN
  SELECT RAISE(IGNORE) FROM cosignatures WHERE checkpoint = NEW.checkpoint AND line = NEW.line;
  SELECT RAISE(ABORT, 'this place of the cosignatures is taken') FROM cosignatures WHERE place = NEW.place;
END;

CREATE TRIGGER cosignatures_are_not_changed BEFORE UPDATE ON cosignatures
BEGIN SELECT RAISE(ABORT, 'cosignatures are append-only'); END;

CREATE TRIGGER cosignatures_are_not_removed BEFORE DELETE ON cosignatures
BEGIN SELECT RAISE(ABORT, 'cosignatures are append-only'); END;

CREATE TABLE tile_roots (
  level INTEGER NOT NULL CHECK (level >= 1),
  place INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, place)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER tile_roots_have_no_gap BEFORE INSERT ON tile_roots
WHEN NEW.place IS NOT (SELECT coalesce(max(place) + 1, 0) FROM tile_roots WHERE level = NEW.level)
BEGIN SELECT RAISE(ABORT, 'place is not the next one of its level'); END;

CREATE TRIGGER tile_roots_are_not_changed BEFORE UPDATE ON tile_roots
BEGIN SELECT RAISE(ABORT, 'tile roots are append-only'); END;

CREATE TRIGGER tile_roots_are_not_removed BEFORE DELETE ON tile_roots
BEGIN SELECT RAISE(ABORT, 'tile roots are append-only'); END;
