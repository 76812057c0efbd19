CREATE TABLE IF NOT EXISTS sources (
  name TEXT PRIMARY KEY,
  folder TEXT NOT NULL,
  weight REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS files (
  id INTEGER PRIMARY KEY,
  source TEXT NOT NULL,
  path TEXT NOT NULL,
  stamp TEXT NOT NULL,              -- what tells that it has changed
  first INTEGER NOT NULL,           -- rows of its passages
  last INTEGER NOT NULL,
  UNIQUE (source, path)
);
CREATE VIRTUAL TABLE IF NOT EXISTS passages USING fts5(
  heading, text, parts,             -- parts: words in identifiers
  file UNINDEXED, line UNINDEXED,   -- files.id
  tokenize = "unicode61 tokenchars '_'"
);
