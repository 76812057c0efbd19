-- SPDX-License-Identifier: Apache-2.0
-- One word for one thing: a check of the judge, a stage of an evaluation. Names: driver/judge/checks/CheckList.cpp.
ALTER TABLE gates RENAME TO checks;
ALTER TABLE checks RENAME COLUMN gate TO name;
UPDATE checks SET name = CASE name
  WHEN 'precise' THEN 'reference' WHEN 'reached' THEN 'coverage' WHEN 'placement' THEN 'alignment'
  WHEN 'demands' THEN 'obligations' WHEN 'floor' THEN 'roofline' ELSE name END;
ALTER TABLE trials RENAME COLUMN layer TO stage;
