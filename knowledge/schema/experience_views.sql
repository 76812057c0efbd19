-- Each reads the one before; all of them what was known at the pinned change. ExperienceBase::open() puts in
-- {0}: the most that the log of a gain counts for, {1}: the least that is one, {2}: the architecture of emulated trials.
CREATE TEMP TABLE pinned (number INTEGER NOT NULL);
INSERT INTO pinned VALUES (0);
CREATE TEMP VIEW revoked AS
  SELECT what, name FROM revocations JOIN pinned ON revocations.number <= pinned.number;
CREATE TEMP VIEW visible AS
  SELECT experience.*, min(source) = '' AS is_own, group_concat(nullif(source, ''), char(10)) AS sources
  FROM experience JOIN origins USING (id) JOIN pinned ON origins.number <= pinned.number
  WHERE ('trial', experience.id) NOT IN revoked AND ('run', run) NOT IN revoked
    AND ('source', source) NOT IN revoked
  GROUP BY experience.id;
CREATE TEMP VIEW ranked AS               -- a confirmation is before a search
  SELECT *, row_number() OVER (PARTITION BY run, candidate ORDER BY purpose, state DESC, id) AS place
  FROM visible;
CREATE TEMP VIEW counted AS
  SELECT *, max(-{0}, min({0}, gain)) AS bounded,
    coalesce(json_extract(record, '$.variant'), '') AS variant
  FROM ranked WHERE place = 1;
CREATE TEMP VIEW outcomes AS
  SELECT state, technique, arch, count(*) AS trials, count(bounded) AS valid,
    count(*) FILTER (WHERE bounded >= {1}) AS gained, total(bounded) AS gain,
    total(bounded * bounded) AS square, total(seconds) AS seconds
  FROM counted GROUP BY state, technique, arch;
CREATE TEMP VIEW patterns AS
  SELECT state, technique, emulated, count(*) AS kernels, total(best >= {1}) AS held,
    coalesce(avg(best), 0) AS gain
  FROM (SELECT state, technique, arch = '{2}' AS emulated, max(bounded) AS best
        FROM counted GROUP BY slice, state, technique, emulated)
  GROUP BY state, technique, emulated;
CREATE TEMP VIEW remembered AS
  SELECT ranked.*, edits.record AS edits FROM ranked JOIN pinned
  LEFT JOIN edits ON edits.candidate = ranked.candidate AND edits.number <= pinned.number;
