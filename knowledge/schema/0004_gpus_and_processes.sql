-- SPDX-License-Identifier: Apache-2.0
-- Where a trial ran (driver/model/Trial.h), and from how many fresh processes its times come.
ALTER TABLE trials ADD COLUMN gpu TEXT NOT NULL DEFAULT '';
ALTER TABLE trials ADD COLUMN processes INTEGER NOT NULL DEFAULT 1;
ALTER TABLE timings ADD COLUMN processes INTEGER NOT NULL DEFAULT 1;
ALTER TABLE samples ADD COLUMN process INTEGER NOT NULL DEFAULT 0;  -- of those that were timed one after the other
