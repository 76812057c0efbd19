-- SPDX-License-Identifier: Apache-2.0
-- Why a search ended, as a number (driver/model/Decision.h, StopReason); stop_reason is the same for people.
-- The data of a decision is the record of its kind (driver/model/Decision.h).
ALTER TABLE runs ADD COLUMN stop INTEGER;
