# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments, then --resume: the same final state as an uninterrupted run, and no trial twice."""

import os
import random
import signal
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
        trials = self.rows("SELECT candidate_hash, verdict FROM trials ORDER BY id")
        winner = self.rows("SELECT winner_hash, stop_reason, state FROM runs")
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

    def test_killed_at_random_moments(self):
        text = (DATA / "scale.cu").read_text()
        small = text.replace("rows = 500", "rows = 320").replace("columns = 300", "columns = 200")
        self.assertNotEqual(small, text)
        self.write("scale.cu", small)
        self.kopt_ok(*self.command()[1:])
        # What a first run keeps in the user's cache, later ones do not do again: the second one is timed.
        for name in (".kopt", "kopt.out"):
            subprocess.run(["rm", "-rf", str(self.folder / name)], check=True)
        start = time.monotonic()
        self.kopt_ok(*self.command()[1:])
        whole = time.monotonic() - start
        expected = self.state()
        report = next(self.folder.glob("kopt.out/*/winner.patch")).read_text().split("\ndiff ", 1)[1]
        self.assertEqual(len(expected[1]), 1)

        moments = random.Random(20261121)
        kills = 0
        while kills < KILLS:
            for name in (".kopt", "kopt.out"):
                subprocess.run(["rm", "-rf", str(self.folder / name)], check=True)
            recorded = []
            # Several kills in one run, so that interrupted resumes are resumed too.
            while self.run_and_kill(moments.uniform(0.05, 0.9) * whole):
                kills += 1
                if (self.folder / ".kopt" / "kopt.db").exists() and self.rows("SELECT name FROM sqlite_master WHERE name='trials'"):
                    now = self.rows("SELECT id, candidate_hash FROM trials ORDER BY id")
                    self.assertEqual(now[:len(recorded)], recorded, "a trial changed or was made again")
                    recorded = now
            self.assertEqual(self.state(), expected)
            patch = next(self.folder.glob("kopt.out/*/winner.patch")).read_text().split("\ndiff ", 1)[1]
            self.assertEqual(patch, report)


if __name__ == "__main__":
    unittest.main()
