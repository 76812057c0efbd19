-- SPDX-License-Identifier: Apache-2.0
-- What a run's winner changes in the user's files: `kopt apply` makes these edits. runs.patch_text is the same for people and git.
CREATE TABLE edited_files (
  run_id INTEGER NOT NULL REFERENCES runs(id),
  path TEXT NOT NULL,              -- relative to the root of the patch
  base_hash TEXT NOT NULL,         -- of the file that the ranges count in
  result_hash TEXT NOT NULL,       -- of the file once the edits are made
  PRIMARY KEY (run_id, path)
) WITHOUT ROWID;

CREATE TABLE edits (
  run_id INTEGER NOT NULL,
  path TEXT NOT NULL,
  position INTEGER NOT NULL,       -- in the order in which they are made
  first_byte INTEGER NOT NULL,
  end_byte INTEGER NOT NULL,       -- after the last byte replaced
  text TEXT NOT NULL,
  PRIMARY KEY (run_id, path, position),
  FOREIGN KEY (run_id, path) REFERENCES edited_files(run_id, path)
) WITHOUT ROWID;
