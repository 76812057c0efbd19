# SPDX-License-Identifier: Apache-2.0
"""Candidates of a kernel that cannot be lifted out of its file are built there and judged as any other."""

import json
import os
import shutil
import sys
import unittest

from kopt_test import FLAGS, KoptTest, has_gpu

HEADER = "#define OFFSET 2.0f\n"
# What __COUNTER__ is depends on what stands before it, so no slice has the same PTX.
PROGRAM = """#include <kopt/kopt.h>
#include "offset.h"
int before = __COUNTER__;
KOPT_TUNE("extent in = n", "extent out = n", "arg n = 4194304")
__global__ void shift(const float *in, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * __COUNTER__ + OFFSET;
}
void run(const float *in, float *out, int n) { shift<<<(n + 255) / 256, 256>>>(in, out, n); }
"""


class InPlace(KoptTest):
    def setUp(self):
        super().setUp()
        self.write("offset.h", HEADER)
        self.write("shift.cu", PROGRAM)

    def judge(self, old, new):
        self.assertIn(old, PROGRAM)
        self.write("candidate.cu", PROGRAM.replace(old, new))
        done = self.kopt_trial("shift.cu", "--kernel", "shift", "--candidate", "candidate.cu", "--device", "cuda",
                            "--json", *FLAGS)
        self.assertIn("its candidates are built in", done.stderr)
        return json.loads(done.stdout)["results"][0]

    def test_a_right_one_is_timed(self):
        trial = self.judge("if (i < n)", "if (i >= n) return; else")
        self.assertIn(trial["verdict"], {"Same", "Faster", "Slower", "Ambiguous", "Duplicate"}, trial["reason"])

    def test_a_wrong_one_is_found(self):
        self.assertEqual(self.judge("+ OFFSET", "- OFFSET")["verdict"], "WrongResult")

    def test_one_that_does_not_compile_names_its_line(self):
        trial = self.judge("in[i] *", "inn[i] *")
        self.assertEqual(trial["verdict"], "BuildFailed")
        self.assertIn("candidate.cu:7:", trial["build_log"])


if __name__ == "__main__":
    if not has_gpu() or not shutil.which("nvcc", path=os.environ["PATH"] + ":/usr/local/cuda/bin"):
        print("no GPU, or no nvcc")
        sys.exit(77)
    unittest.main()
