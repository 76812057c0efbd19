# SPDX-License-Identifier: Apache-2.0
"""Kernels at the roof of the modelled device's DRAM are told so and cost one profile; kernels that move as many bytes without need are
searched. The V100 is taken for its small L2 cache."""

import json
import unittest

from kopt_test import DATA, FLAGS, KoptTest

V100 = ["--device", "emulated", "--model-gpu", "V100"]


class Roof(KoptTest):
    def tune_one(self, kernel, *arguments):
        file = self.folder / "roof.cu"
        if not file.exists():
            self.copy(DATA / "roof.cu")
        done = self.kopt_ok("tune", file, "--kernel", kernel, *V100, "--trials", "2", "--json", *arguments, *FLAGS)
        return json.loads(done.stdout)["results"][0], done.stderr

    def test_three_kernels_at_their_roof_cost_one_profile(self):
        for kernel in ("copy", "axpy", "add"):
            with self.subTest(kernel):
                outcome, progress = self.tune_one(kernel)
                self.assertEqual((outcome["judged"], outcome["stop"]), (0, "at-roof"))
                self.assertIn("at its roof: at most 1.0", outcome["stop_reason"])
                self.assertRegex(progress, kernel + r": DRAM moves [\d.]+ MB at 9\d% of the rate that this device reaches")
        run = outcome["run"]
        report = json.loads(self.kopt_ok("report", "--run-id", run, "--format", "json").stdout)
        self.assertEqual(report["stop"], "at-roof")
        stop = [decision for decision in report["decisions"] if decision["kind"] == "stop"][0]
        figures = {one["what"]: one["value"] for one in stop["evidence"]}
        self.assertGreater(figures["percent_reached"], 95)
        self.assertAlmostEqual(figures["moved"] / figures["known__buffer_bytes"], 1, delta=0.1)
        self.assertIn("At its roof", self.kopt_ok("report", "--run-id", run).stdout)
        explained = self.kopt_ok("explain", run).stdout
        self.assertIn("because the kernel is at its roof", explained)
        self.assertIn("of the rate that this device reaches", explained)

    def test_it_is_searched_if_the_user_says_so(self):
        outcome, _ = self.tune_one("copy")
        self.assertEqual(outcome["stop"], "at-roof")
        again, progress = self.tune_one("copy", "--roof", "ignore", "--resume")
        self.assertEqual(again["run"], outcome["run"])
        self.assertIn("resuming", progress)
        self.assertNotEqual(again["stop"], "at-roof")

    def test_three_that_move_as_many_bytes_without_need_are_searched(self):
        for kernel in ("twice", "strided", "detour"):
            with self.subTest(kernel):
                outcome, _ = self.tune_one(kernel)
                self.assertNotEqual(outcome["stop"], "at-roof")
                report = json.loads(self.kopt_ok("report", "--run-id", outcome["run"], "--format", "json").stdout)
                counters = report["trials"][0]["counters"]
                self.assertGreater(counters["dram__throughput.avg.pct_of_peak_sustained_elapsed"], 97)


if __name__ == "__main__":
    unittest.main()
