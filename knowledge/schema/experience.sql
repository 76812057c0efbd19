-- Nothing is ever changed or removed: so what two databases know is known by each that merges the
-- other, in whatever order, and what a run has pinned stays as it was.
CREATE TABLE IF NOT EXISTS experience (            -- Experience
  id TEXT PRIMARY KEY,                             -- the hash of the record
  record TEXT NOT NULL,
  run TEXT AS (json_extract(record, '$.from.run')) STORED,
  candidate TEXT AS (json_extract(record, '$.candidate')) STORED,
  slice TEXT AS (json_extract(record, '$.kernel.text')) STORED,
  state TEXT AS (json_extract(record, '$.state')) STORED,
  technique TEXT AS (json_extract(record, '$.technique')) STORED,
  arch TEXT AS (json_extract(record, '$.arch')) STORED,
  purpose TEXT AS (json_extract(record, '$.purpose')) STORED,
  verdict TEXT AS (json_extract(record, '$.verdict')) STORED,
  gain REAL AS (json_extract(record, '$.over_parent.estimate')) STORED,
  speedup REAL AS (json_extract(record, '$.over_baseline.estimate')) STORED,
  seconds REAL AS (json_extract(record, '$.seconds')) STORED
);
CREATE INDEX IF NOT EXISTS experience_slice ON experience (slice);
-- Where a row is from. `number` counts the changes of all three tables.
CREATE TABLE IF NOT EXISTS origins (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL REFERENCES experience(id),
  source TEXT NOT NULL,                            -- the name of an import; empty: the user's own
  UNIQUE (id, source)
);
CREATE TABLE IF NOT EXISTS revocations (
  number INTEGER PRIMARY KEY,
  what TEXT NOT NULL,                              -- trial, run or source
  name TEXT NOT NULL,
  UNIQUE (what, name)
);
CREATE TABLE IF NOT EXISTS edits (                 -- Candidate
  candidate TEXT PRIMARY KEY,                      -- the hash of its content
  number INTEGER NOT NULL,
  record TEXT NOT NULL
);
