-- SPDX-License-Identifier: Apache-2.0
-- What one `kopt tune` made of the winners of its runs: one patch, and what the real program said of it.
CREATE TABLE sessions (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  root TEXT NOT NULL,              -- of the patch
  started_utc TEXT NOT NULL,
  finished_utc TEXT NOT NULL,      -- empty while the program is asked
  confirmation TEXT NOT NULL,      -- JSON: ProgramConfirmation (driver/model/Session.h)
  composed TEXT NOT NULL,          -- JSON: array of ComposedTrial
  confirmed_patch TEXT NOT NULL REFERENCES texts(hash),
  offered_patch TEXT NOT NULL REFERENCES texts(hash)
);

CREATE TABLE session_wins (
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  position INTEGER NOT NULL,       -- the most seconds saved first
  run_id INTEGER NOT NULL REFERENCES runs(id),
  win TEXT NOT NULL,               -- JSON: SessionWin, with the times of every run of the program
  PRIMARY KEY (session_id, position)
) WITHOUT ROWID;
CREATE INDEX session_wins_by_run ON session_wins(run_id);

-- As edited_files and edits, of the composed patches. offered: 0 of the confirmed one, 1 of the one with unconfirmed wins.
CREATE TABLE session_files (
  session_id INTEGER NOT NULL REFERENCES sessions(id),
  offered INTEGER NOT NULL,
  path TEXT NOT NULL,
  base_hash TEXT NOT NULL,
  result_hash TEXT NOT NULL,
  PRIMARY KEY (session_id, offered, path)
) WITHOUT ROWID;

CREATE TABLE session_edits (
  session_id INTEGER NOT NULL,
  offered INTEGER NOT NULL,
  path TEXT NOT NULL,
  position INTEGER NOT NULL,
  first_byte INTEGER NOT NULL,
  end_byte INTEGER NOT NULL,
  text TEXT NOT NULL,
  PRIMARY KEY (session_id, offered, path, position),
  FOREIGN KEY (session_id, offered, path) REFERENCES session_files(session_id, offered, path)
) WITHOUT ROWID;
