-- SPDX-License-Identifier: Apache-2.0
-- The hottest source lines of the baseline's and of a confirmed candidate's launch: HotLines in driver/model/HotLines.h.
ALTER TABLE trials ADD COLUMN hot_lines TEXT NOT NULL DEFAULT '{}';
