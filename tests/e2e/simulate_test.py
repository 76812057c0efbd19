# SPDX-License-Identifier: Apache-2.0
"""kopt simulate: files of other tuners are searched, compared and converted without a device."""

import json
import unittest

from kopt_test import KoptTest


def cache(fastest):
    """400 points; one in four fails."""
    points = {}
    for x in range(20):
        for y in range(20):
            time = 1 + abs(x - fastest[0]) + abs(y - fastest[1])
            fails = (x * y) % 4 == 1
            points[f"{x},{y}"] = {"X": x, "Y": y, "time": "RuntimeFailedConfig" if fails else time, "times": [] if fails else [time] * 12,
                                  "compile_time": 300, "benchmark_time": 20}
    return {"device_name": "GPU", "kernel_name": "add", "tune_params_keys": ["X", "Y"], "cache": points,
            "tune_params": {"X": list(range(20)), "Y": list(range(20))}}


class Simulate(KoptTest):
    def figures(self, *arguments):
        done = self.kopt_ok("simulate", *arguments, "--json")
        return {(each["search"], each["space"]): each["figures"] for each in json.loads(done.stdout)["results"]}

    def test_searchers_are_compared_with_each_other_and_with_other_programs(self):
        self.write("here.json", json.dumps(cache((4, 10))))
        self.write("there.json", json.dumps(cache((5, 10))))
        self.write("runs.json", json.dumps({"name": "lucky", "here.json": [[1.0], [2.0]]}))
        figures = self.figures("here.json", "--searcher", "default", "--searcher", "random", "--runs", "runs.json", "--repeats", "4",
                               "--trials", "60", "--plot", "page.html")
        mean = {search: sum(run[1] for run in runs) / len(runs) for (search, _), runs in figures.items()}
        self.assertAlmostEqual(mean["lucky"], 0.75)
        self.assertGreater(mean["default"], 0.99)
        self.assertLess(mean["random"], mean["default"])
        self.assertIn("here.json: 400 points", (self.folder / "page.html").read_text())
        cold = self.figures("here.json", "--repeats", "4", "--trials", "12")["default", "here.json"]
        known = self.figures("here.json", "--elsewhere", "there.json", "--repeats", "4", "--trials", "12")["default", "here.json"]
        self.assertGreater(min(run[0] for run in known), 0.999)
        self.assertLess(min(run[0] for run in cold), 0.999)

    def test_each_format_is_read_and_written(self):
        self.write("space.json", json.dumps(cache((3, 3))))
        for name in ("kernel-tuner", "t1", "t4"):
            self.kopt_ok("simulate", "space.json", "--write", f"{name}.json", "--format", name)
        same = [self.figures(*files, "--repeats", "2", "--trials", "40") for files in
                (["space.json"], ["kernel-tuner.json"], ["t4.json", "--problem", "t1.json"])]
        self.assertEqual(list(same[0].values()), list(same[1].values()))
        self.assertEqual(list(same[0].values()), list(same[2].values()))

    def test_bad_input_is_named(self):
        self.write("empty.json", "{}")
        for file, code, text in (("empty.json", 1, "empty.json: neither a cache of Kernel Tuner nor a T4 file"),
                                 ("missing.json", 6, "missing.json")):
            done = self.kopt("simulate", file)
            self.assertEqual(done.returncode, code)
            self.assertIn(text, done.stderr)


if __name__ == "__main__":
    unittest.main()
