# SPDX-License-Identifier: Apache-2.0
"""Candidates that are built while others run: the same trials, verdicts and patch as one after the other, also after a kill."""

import os
import signal
import subprocess
import time
import unittest

from kopt_test import BIN, DATA, FLAGS, KoptTest

OPTIONS = ["--device", "emulated", "--seed", "7", "--trials", "6", "--proposers", "params", "--json"]


class BuildAhead(KoptTest):
    def state(self):
        trials = [[trial[name] for name in ("candidate_hash", "verdict", "stage", "reason", "module_hash")]
                  for trial in self.records("trials")]
        return trials, [(run["winner_hash"], run["stop_text"]) for run in self.records("runs") if run["state"] == "finished"]

    def waited(self):
        return sum("wait" in trial["stages"] for trial in self.records("trials"))

    def command(self, jobs, *more):
        return ["tune", "scale.cu", *OPTIONS, "--build-jobs", str(jobs), *more, *FLAGS]

    def test_changes_nothing(self):
        text = (DATA / "scale.cu").read_text()
        for old, new in (("rows = 500", "rows = 96"), ("columns = 300", "columns = 64"), ("{8, 16, 32}", "{2, 4, 8, 16, 32}")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        self.write("scale.cu", text)
        start = time.monotonic()
        self.kopt_ok(*self.command(0))
        whole = time.monotonic() - start
        expected = self.state()
        self.assertEqual(self.waited(), 0)
        self.assertGreater(len(expected[0]), 4)
        subprocess.run(["rm", "-rf", str(self.folder / ".kopt"), str(self.folder / "kopt.out")], check=True)

        # Killed in the middle, while builds run: what follows is as if nothing had happened.
        child = subprocess.Popen([str(BIN / "kopt"), *self.command(3)], cwd=self.folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            child.wait(timeout=0.5 * whole)
        except subprocess.TimeoutExpired:
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
        self.kopt_ok(*self.command(3, "--resume"))
        self.assertEqual(self.state(), expected)
        self.assertGreater(self.waited(), 0)


if __name__ == "__main__":
    unittest.main()
