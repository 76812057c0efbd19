# SPDX-License-Identifier: Apache-2.0
"""What `kopt tune` makes faster: the objective, its target time, the guard of single launches, and several runs of a program."""

import json
import unittest

from classes_test import DECODE
from kopt_test import DATA, FLAGS, KoptTest
from observe_test import APP, CUDA

OPTIONS = ["--device", "emulated", "--json", "--proposers", "params"]


class Tunes(KoptTest):
    def tune(self, *arguments, env=None):
        done = self.kopt_ok("tune", *arguments, *OPTIONS, *FLAGS, env=env)
        return json.loads(done.stdout)


class Objective(Tunes):
    def test_the_slowest_launch_alone_may_be_what_counts(self):
        # The table makes the large launch faster and the small one slower.
        self.write("decode.cu", DECODE)
        [outcome] = self.tune("decode.cu", "--objective", "worst", "--max-launch-regression", "99")["results"]
        self.assertEqual(outcome["winner"]["title"], "TABLE = 1")
        self.assertEqual(outcome["winner"]["speedup"]["of"], "worst")
        report = self.kopt_ok("report").stdout
        self.assertIn("the slowest launch, for H200", report)
        self.assertIn("--objective worst --max-launch-regression 99", report)
        explained = self.kopt_ok("explain", outcome["run"]).stdout
        self.assertIn("what is made faster is the slowest launch; the baseline's takes", explained)

    def test_a_time_that_is_reached_ends_the_search(self):
        self.write("decode.cu", DECODE)
        [outcome] = self.tune("decode.cu", "--objective", "p95,target:2s")["results"]
        self.assertEqual(outcome["judged"], 0)
        self.assertIn("the 95th percentile of the launches, in at most 2 s", outcome["stop_reason"])

    def test_another_objective_is_an_error_that_says_what_is_allowed(self):
        self.write("decode.cu", DECODE)
        for wrong in ("p99", "target:5"):
            done = self.kopt("tune", "decode.cu", "--objective", wrong, *FLAGS)
            self.assertEqual(done.returncode, 1, done.stderr)
            self.assertIn(f"--objective: '{wrong}' is not an objective", done.stderr)
            self.assertIn("allowed are mean, p95 and worst, target:TIME with the unit s, ms, us or ns", done.stderr)


@unittest.skipUnless(APP.exists(), "this build has no capture library")
class Runs(Tunes):
    def test_several_runs_of_a_program_are_one_workload(self):
        text = (DATA / "captured.cu").read_text().replace("__global__ void scale(", """#include <kopt/kopt.h>
constexpr int READS = 32;
KOPT_TUNE("param READS in {1, 32}")
__global__ void scale(""").replace("    out[i] = factor * in[i];", """  {
    const volatile float *from = in;
    float value = 0;
    for (int k = 0; k < READS; ++k)
      value = from[i];
    out[i] = factor * value;
  }""")
        file = self.write("captured.cu", text)
        runs = [f"{APP} scale", f"{APP} weigh scale"]
        out = self.tune(file, "--kernel", "scale", "--run", runs[0], "--run", runs[1], "--run", runs[0], env=CUDA)
        [win] = out["details"]["session"]["wins"]
        self.assertEqual((win["state"], win["title"]), ("modelled", "READS = 1"))
        self.assertEqual([run["command"] for run in win["runs"]], runs)
        for run in win["runs"]:
            self.assertGreater(run["isolated"]["estimate"], 1.02)
        report = self.kopt_ok("report").stdout
        for command in runs:
            self.assertIn(f"{command}: grid 40 block 128", report)
            self.assertIn(f"- scale by '{command}': ", report)
        self.assertIn(f"--run '{runs[0]}' --run '{runs[1]}'", report)


if __name__ == "__main__":
    unittest.main()
