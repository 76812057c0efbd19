# SPDX-License-Identifier: Apache-2.0
"""kopt profile on a GPU: counters, machine code, and what Nsight Compute says where it may count."""

import json
import sys
import unittest

from kopt_test import FLAGS, KoptTest

PROGRAM = """#include <kopt/kopt.h>
KOPT_TUNE("extent in = n", "extent out = n", "arg n = 1048576", "arg turns = 200")
__global__ void turn(const float *in, float *out, int n, int turns) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float x = in[i];
  for (int k = 0; k < turns; ++k)
    x = x * 0.999f + x / (k + 3);
  out[i] = x;
}
void run(const float *in, float *out, int n, int turns) { turn<<<(n + 255) / 256, 256>>>(in, out, n, turns); }
"""
HOT = 8  # the line of the loop's body


class Profile(KoptTest):
    def setUp(self):
        super().setUp()
        self.write("turn.cu", PROGRAM)

    def profile(self, *arguments):
        done = self.kopt_ok("profile", "turn.cu", "--device", "cuda", "--json", *arguments, *FLAGS)
        return json.loads(done.stdout)["results"][0]

    def test_counters_and_code(self):
        kernel = self.profile()
        self.assertFalse(kernel["modelled"])
        self.assertGreater(kernel["counters"]["launch__registers_per_thread"], 0)
        self.assertEqual(kernel["counters"]["ptxas__registers"], kernel["counters"]["launch__registers_per_thread"])
        if kernel["counter_source"] == "cupti":
            self.assertGreater(kernel["counters"]["smsp__inst_executed.sum"], 0)
        if any("nvdisasm was not found" in text for text in kernel["missing"]):
            self.skipTest("there is no nvdisasm")
        self.assertEqual(kernel["lines"][0]["line"], HOT)
        self.assertEqual(kernel["lines"][0]["loop_depth"], 1)
        self.assertEqual(kernel["counters"]["sass__inst"], sum(line["instructions"] for line in kernel["lines"]))

    def test_nsight_compute(self):
        kernel = self.profile("--ncu")
        if not kernel["ncu"]["ran"]:
            self.skipTest(kernel["ncu"]["detail"])
        self.assertTrue(kernel["ncu"]["metrics"])
        self.assertTrue(kernel["ncu"]["advice"])
        self.assertTrue({one["type"] for one in kernel["ncu"]["advice"]} <= {"OPT", "INF", "WRN", "ERR"})
        self.assertEqual(kernel["ncu"]["detail"], "")
        self.assertEqual(kernel["lines"][0]["line"], HOT)
        self.assertGreater(kernel["lines"][0]["samples"], 0)
        # Each warp instruction belongs to a line.
        executed = sum(line["executed"] or 0 for line in kernel["lines"])
        self.assertAlmostEqual(executed / kernel["counters"]["smsp__inst_executed.sum"], 1, delta=0.02)

    def test_sections_by_name(self):
        kernel = self.profile("--ncu", "--sections", "Occupancy")
        if not kernel["ncu"]["ran"]:
            self.skipTest(kernel["ncu"]["detail"])
        self.assertIn("Occupancy", {metric["section"] for metric in kernel["ncu"]["metrics"]})


if __name__ == "__main__":
    probe = Profile()
    probe.setUp()
    there = probe.kopt("profile", "turn.cu", "--device", "cuda", *FLAGS)
    probe.doCleanups()
    if there.returncode == 6:
        print(there.stderr)
        sys.exit(77)
    unittest.main()
