# SPDX-License-Identifier: Apache-2.0
"""kopt ci on a GPU: a regression is measured and told, and what makes no difference raises no alarm; skips without a GPU."""

import json
import sys
import unittest

import ci_test
from kopt_test import skip_without_gpu

N = 1 << 24  # a launch takes some 60 us


class Gate(ci_test.Project):
    def setUp(self):
        super().setUp()
        self.git("checkout", "-q", "main")
        self.edit("src/blur.cu", "n=4000", f"n={N}")
        self.edit("src/scale.cu", "n=4096", f"n={N}")
        self.commit("sizes of real programs")
        self.git("checkout", "-q", "-B", "work")

    def on_gpu(self, code, *arguments):
        done = self.kopt("ci", "--base", "main", "-p", self.database(), "--device", "cuda", "--json", *arguments, cwd=self.repo,
                         env={"GITHUB_ACTIONS": "", "GITHUB_STEP_SUMMARY": ""})
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        answer = json.loads(done.stdout)
        for one in answer["results"]:
            print(f"\n{one['kernel']}: {one['change']}, {one['verdict']}, {one['reason']}", file=sys.stderr)
        return answer

    def test_a_regression_is_measured_and_told_with_its_line(self):
        self.edit("taps.h", "TAPS 3", "TAPS 40")
        self.commit("more taps")
        answer = self.on_gpu(2, "--sarif", self.folder / "s.json")
        blur = self.kernels(answer)["blur"]
        self.assertEqual((blur["verdict"], blur["measured"], blur["confirmed"]), ("slower", True, True))
        self.assertEqual(blur["place"], {"file": "src/blur.cu", "line": 4})
        self.assertLess(blur["speedup"]["high"], 0.97)
        self.assertFalse(blur["speedup"]["modelled"])
        self.assertEqual(answer["details"]["headline"], "1 kernel is slower")
        result = json.loads((self.folder / "s.json").read_text())["runs"][0]["results"][0]
        self.assertEqual((result["ruleId"], result["level"]), ("kopt/regression", "error"))

    def test_a_few_percent_are_a_regression_too(self):
        # One more word of 16 is read: about 3 % more memory.
        self.edit("src/scale.cu", "    out[i] = in[i] * f;", "    out[i] = in[i] * f + (i % 256 < 16 ? in[n - 1 - i] : 0.0f);")
        self.commit("read some elements twice")
        self.assertEqual(self.kernels(self.on_gpu(2))["scale"]["verdict"], "slower")

    def test_a_refactoring_raises_no_alarm(self):
        # Other names: the same machine code. Another order of the sum: other machine code that is as fast.
        self.edit("src/scale.cu", "int i =", "int index =")
        self.edit("src/scale.cu", "if (i < n)", "if (index < n)")
        self.edit("src/scale.cu", "out[i] = in[i] * f;", "out[index] = in[index] * f;")
        self.edit("src/blur.cu", "for (int k = 0; k < TAPS; ++k)", "for (int k = TAPS - 1; k >= 0; --k)")
        self.commit("refactor")
        kernels = self.kernels(self.on_gpu(0, "--fail-on", "regression,win"))
        self.assertEqual({name: (one["verdict"], one["measured"]) for name, one in kernels.items()},
                         {"blur": ("same", True), "scale": ("same", False)})


if __name__ == "__main__":
    skip_without_gpu()
    unittest.main()
