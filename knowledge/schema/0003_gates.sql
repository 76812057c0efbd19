-- SPDX-License-Identifier: Apache-2.0
-- What became of each layer of verification. Names: driver/judge/CheckList.cpp; states: driver/model/Trial.h.
CREATE TABLE gates (
  trial_id INTEGER NOT NULL REFERENCES trials(id),
  position INTEGER NOT NULL,
  gate TEXT NOT NULL,
  state INTEGER NOT NULL,
  detail TEXT NOT NULL,
  PRIMARY KEY (trial_id, position)
) WITHOUT ROWID;
