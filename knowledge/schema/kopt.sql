-- SPDX-License-Identifier: Apache-2.0
-- .kopt/kopt.db. Each record is the JSON of a record of driver/model with its members' names in snake_case; a text that is
-- not UTF-8 is {"hex": "…"}. What is unique is a column that SQLite reads from it.

CREATE TABLE IF NOT EXISTS runs (                -- RunRecord
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE AS (json_extract(record, '$.name')),
  record TEXT NOT NULL
);

CREATE TABLE IF NOT EXISTS trials (              -- Trial
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  candidate_hash TEXT NOT NULL AS (json_extract(record, '$.candidate_hash')),
  purpose TEXT NOT NULL AS (json_extract(record, '$.purpose')),
  record TEXT NOT NULL,
  UNIQUE (run_id, candidate_hash, purpose)  -- no trial is repeated
);

CREATE TABLE IF NOT EXISTS events (              -- Event
  run_id INTEGER NOT NULL REFERENCES runs(id),
  sequence INTEGER NOT NULL,       -- from 1 in each run
  record TEXT NOT NULL,
  PRIMARY KEY (run_id, sequence)
);

CREATE TABLE IF NOT EXISTS model_calls (         -- ModelCall
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  request_hash TEXT NOT NULL AS (json_extract(record, '$.request_hash')),
  record TEXT NOT NULL,
  UNIQUE (run_id, request_hash)
);

CREATE TABLE IF NOT EXISTS sessions (            -- SessionRecord
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE AS (json_extract(record, '$.name')),
  record TEXT NOT NULL
);
