-- SPDX-License-Identifier: Apache-2.0
-- What the seconds of a trial were spent on. Names: driver/model/Trial.h.
CREATE TABLE stages (
  trial_id INTEGER NOT NULL REFERENCES trials(id),
  name TEXT NOT NULL,
  seconds REAL,
  PRIMARY KEY (trial_id, name)
) WITHOUT ROWID;
