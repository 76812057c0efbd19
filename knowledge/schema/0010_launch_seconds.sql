-- SPDX-License-Identifier: Apache-2.0
-- A win has the seconds of a launch in isolation (SessionWin::launch); of older ones they are not known.
UPDATE session_wins SET win = json_set(win, '$.launch', json('{"before":0,"after":0}'));
