-- SPDX-License-Identifier: Apache-2.0
-- What a trial was made for is a column, not a suffix of its candidate's hash; a candidate may have several parents;
-- what was shown of a candidate is stored. SQLite cannot change a UNIQUE constraint, so the table is made anew. Other
-- tables refer to it: whether they still do is asked at the end of the transaction.
PRAGMA defer_foreign_keys = ON;
CREATE TEMP TABLE old_trials AS SELECT * FROM trials;
DROP TABLE trials;
CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  candidate_hash TEXT NOT NULL,
  purpose INTEGER NOT NULL,        -- numbers of purposes, verdicts and stages: driver/model/Trial.h
  proposer TEXT NOT NULL,
  title TEXT NOT NULL,
  technique TEXT NOT NULL,
  parents TEXT NOT NULL,           -- JSON: array of candidate hashes
  rationale TEXT NOT NULL,
  change TEXT NOT NULL,            -- JSON: chunks as hashes of texts, constants, launch, tunables, includes, declarations
  verdict INTEGER NOT NULL,
  stage INTEGER NOT NULL,
  reason TEXT NOT NULL,
  findings TEXT NOT NULL,          -- JSON
  assurance TEXT NOT NULL,         -- JSON: level, gaps
  slice_text TEXT NOT NULL REFERENCES texts(hash),
  build_log TEXT NOT NULL REFERENCES texts(hash),
  module_hash TEXT NOT NULL,
  resources TEXT,                  -- JSON, NULL where it was not built
  counter_source TEXT NOT NULL,
  seconds REAL,
  has_speedup INTEGER NOT NULL,
  speedup REAL, speedup_low REAL, speedup_high REAL, confidence REAL,
  pairs INTEGER NOT NULL,
  modelled INTEGER NOT NULL,
  processes INTEGER NOT NULL,
  gpu TEXT NOT NULL,
  UNIQUE (run_id, candidate_hash, purpose)  -- no trial is repeated
);
INSERT INTO trials
  SELECT id, run_id,
    CASE WHEN candidate_hash LIKE '%:confirm' THEN substr(candidate_hash, 1, length(candidate_hash) - 8) ELSE candidate_hash END,
    candidate_hash LIKE '%:confirm',
    proposer, title, technique, CASE parent WHEN '' THEN '[]' ELSE json_array(parent) END, rationale, change, verdict, stage,
    reason, findings, '{"level":"partial","gaps":[{"check":"","what":"recorded by a kopt that did not state it"}]}',
    slice_text, build_log, module_hash, resources, counter_source, seconds, has_speedup, speedup, speedup_low,
    speedup_high, confidence, pairs, modelled, processes, gpu
  FROM old_trials;
DROP TABLE old_trials;
UPDATE timings SET cache_mode = 'unknown' WHERE cache_mode = '';
