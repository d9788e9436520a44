-- Meaning and lifetime of every table and column: ../../SCHEMA.md

CREATE INDEX records_misplaced ON records (json_extract(canonical, '$.endpoint'), seq)
WHERE kind = 'violation' AND json_extract(canonical, '$.region_verdict') = 'mismatch';

CREATE INDEX records_ordered ON records (json_extract(canonical, '$.endpoint'), seq) WHERE kind = 'control';
