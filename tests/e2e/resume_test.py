# SPDX-License-Identifier: Apache-2.0
"""kill -9, then --resume: the same final state as an uninterrupted run, and no trial twice."""

import os
import random
import signal
import sqlite3
import subprocess
import time
import unittest

from kopt_test import BIN, DATA, FLAGS, KoptTest

KILLS = 20
OPTIONS = ["--device", "emulated", "--seed", "7", "--trials", "7", "--json"]


class Resume(KoptTest):
    def command(self):
        return [str(BIN / "kopt"), "tune", "scale.cu", *OPTIONS, "--resume", *FLAGS]

    def state(self):
        trials = [(trial["candidate_hash"], trial["verdict"]) for trial in self.records("trials")]
        winner = [(run["winner_hash"], run["stop_text"], run["state"]) for run in self.records("runs")]
        return trials, winner

    def run_and_kill(self, seconds):
        """True where the run was still going on."""
        child = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        try:
            child.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            return True

    def test_another_workload_takes_over_no_trials(self):
        text = (DATA / "scale.cu").read_text().replace('"arg rows = 500", "arg columns = 300", "arg factor = 2.5",\n', "")
        self.assertNotIn("arg factor", text)
        self.write("scale.cu", text)
        resumed = []
        for factor in ("3.5", "3.25", "3.5"):
            self.write("kopt.toml", '[[kernel]]\nname = "scale"\nclauses = ["arg rows = 64", "arg columns = 48", '
                       f'"arg factor = {factor}"]\n')
            done = self.kopt_ok("tune", "scale.cu", *OPTIONS[:4], "--trials", "2", "--resume", *FLAGS)
            resumed.append("resuming" in done.stderr)
        self.assertEqual(resumed, [False, False, True])
        self.assertEqual(self.rows("SELECT COUNT(*) FROM runs"), [(2,)])

    def prepare(self):
        text = (DATA / "scale.cu").read_text()
        small = text.replace("rows = 500", "rows = 480").replace("columns = 300", "columns = 280")
        self.assertNotEqual(small, text)
        self.write("scale.cu", small)
        self.kopt_ok(*self.command()[1:])

    def restart(self):
        for name in (".kopt", "kopt.out"):
            subprocess.run(["rm", "-rf", str(self.folder / name)], check=True)

    def patch(self):
        return next(self.folder.glob("kopt.out/*/winner.patch")).read_text().split("\ndiff ", 1)[1]

    def recorded(self):
        """Trials on record; none while the database is being made."""
        if not (self.folder / ".kopt" / "kopt.db").exists():
            return []
        try:
            return self.rows("SELECT id, candidate_hash FROM trials ORDER BY id")
        except sqlite3.OperationalError:
            return []

    def run_and_kill_after(self, trials):
        """Kills the run as soon as so many trials are on record, in the middle of the next one."""
        child = subprocess.Popen(self.command(), cwd=self.folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        while child.poll() is None and len(self.recorded()) < trials:
            time.sleep(0.005)
        self.assertIsNone(child.poll(), "the run was over before it was killed")
        os.kill(child.pid, signal.SIGKILL)
        child.wait()

    def test_killed_at_fault_points(self):
        self.prepare()
        expected, patch, whole = self.state(), self.patch(), self.recorded()
        self.assertGreater(len(whole), 6)
        self.restart()
        before = []
        for trials in (1, 3, 6):  # after the baseline, in a round, in the next one
            self.run_and_kill_after(trials)
            now = self.recorded()
            self.assertEqual(now[:len(before)], before, "a trial changed or was made again")
            before = now
        self.kopt_ok(*self.command()[1:])
        self.assertEqual(self.state(), expected)
        self.assertEqual(self.recorded(), whole)
        self.assertEqual(self.patch(), patch)

    def test_killed_at_random_moments(self):
        self.prepare()
        # What a first run keeps in the user's cache, later ones do not do again: the second one is timed.
        self.restart()
        start = time.monotonic()
        self.kopt_ok(*self.command()[1:])
        whole = time.monotonic() - start
        expected, patch = self.state(), self.patch()
        self.assertEqual(len(expected[1]), 1)

        moments = random.Random(20261121)
        kills = 0
        while kills < KILLS:
            self.restart()
            before = []
            # Several kills in one run, so that interrupted resumes are resumed too.
            while self.run_and_kill(moments.uniform(0.05, 0.9) * whole):
                kills += 1
                now = self.recorded()
                self.assertEqual(now[:len(before)], before, "a trial changed or was made again")
                before = now
            self.assertEqual(self.state(), expected)
            self.assertEqual(self.patch(), patch)


if __name__ == "__main__":
    unittest.main()
