-- SPDX-License-Identifier: Apache-2.0
-- .kopt/kopt.db. Times are seconds, sizes bytes, hashes XXH3-128 in hex. Numbers of verdicts and layers:
-- driver/model/Trial.h. A real that is NULL is not a number.

-- Sources, patches and compiler output by content: the same text is stored once.
CREATE TABLE texts (
  hash TEXT PRIMARY KEY,
  text TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE runs (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  kernel TEXT NOT NULL,
  symbol TEXT NOT NULL,
  file TEXT NOT NULL,
  inputs_hash TEXT NOT NULL,
  config TEXT NOT NULL,            -- JSON
  device TEXT NOT NULL,            -- JSON
  started_utc TEXT NOT NULL,
  finished_utc TEXT NOT NULL,      -- empty while it runs
  state TEXT NOT NULL,             -- running, finished, failed
  stop_reason TEXT NOT NULL,
  winner_hash TEXT NOT NULL,       -- candidate_hash of a trial, or empty
  slice_text TEXT NOT NULL REFERENCES texts(hash),
  patch_text TEXT NOT NULL REFERENCES texts(hash)
);
CREATE INDEX runs_by_inputs ON runs(inputs_hash, id);

CREATE TABLE trials (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  candidate_hash TEXT NOT NULL,
  proposer TEXT NOT NULL,
  title TEXT NOT NULL,
  technique TEXT NOT NULL,
  parent TEXT NOT NULL,
  rationale TEXT NOT NULL,
  change TEXT NOT NULL,            -- JSON: chunks as hashes of texts, constants, launch
  verdict INTEGER NOT NULL,
  layer INTEGER NOT NULL,
  reason TEXT NOT NULL,
  findings TEXT NOT NULL,          -- JSON
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
  UNIQUE (run_id, candidate_hash)  -- no trial is repeated
);

CREATE TABLE timings (
  id INTEGER PRIMARY KEY,
  trial_id INTEGER NOT NULL REFERENCES trials(id),
  position INTEGER NOT NULL,
  launch TEXT NOT NULL,
  speedup REAL, speedup_low REAL, speedup_high REAL, confidence REAL,
  pairs INTEGER NOT NULL,
  modelled INTEGER NOT NULL,
  baseline_seconds REAL,           -- median
  candidate_seconds REAL,          -- median
  cache_mode TEXT NOT NULL,
  UNIQUE (trial_id, position)
);

CREATE TABLE samples (
  timing_id INTEGER NOT NULL REFERENCES timings(id),
  position INTEGER NOT NULL,
  baseline_seconds REAL,
  candidate_seconds REAL,
  PRIMARY KEY (timing_id, position)
) WITHOUT ROWID;

CREATE TABLE counters (
  trial_id INTEGER NOT NULL REFERENCES trials(id),
  name TEXT NOT NULL,              -- Nsight Compute's metric name
  value REAL,
  PRIMARY KEY (trial_id, name)
) WITHOUT ROWID;

CREATE TABLE decisions (
  run_id INTEGER NOT NULL REFERENCES runs(id),
  sequence INTEGER NOT NULL,
  round INTEGER NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  data TEXT NOT NULL,              -- JSON
  PRIMARY KEY (run_id, sequence)
) WITHOUT ROWID;

CREATE TABLE model_calls (
  id INTEGER PRIMARY KEY,
  run_id INTEGER NOT NULL REFERENCES runs(id),
  request_hash TEXT NOT NULL,
  purpose TEXT NOT NULL,
  model TEXT NOT NULL,
  request TEXT NOT NULL,
  reply TEXT NOT NULL,
  input_tokens INTEGER NOT NULL,
  output_tokens INTEGER NOT NULL,
  cached_tokens INTEGER NOT NULL,
  seconds REAL,
  UNIQUE (run_id, request_hash)
);
