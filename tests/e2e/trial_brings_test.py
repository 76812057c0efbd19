# SPDX-License-Identifier: Apache-2.0
"""What a candidate may bring beside its kernel, and what is refused by its name and line."""

import json
import pathlib
import re
import unittest

from kopt_test import FLAGS, KoptTest

COMMON = "#pragma once\nstruct Shift { float by; };\n#define HALVES 0.5f\n"
BASE = """#include <kopt/kopt.h>
#include "../common.h"

constexpr int TILE_DIM = 32;
constexpr int STEPS = 3;

KOPT_TUNE("arg n = 3000", "extent in = n", "extent out = n")
__global__ void twice(const float *in, float *out, int n) {
  int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n)
    out[i] = in[i] * 2;
}

void run(const float *in, float *out, int n) { twice<<<(n + 127) / 128, 128>>>(in, out, n); }
"""
LINE = "    out[i] = in[i] * 2;"
JUDGED = {"Same", "Slower", "Faster", "Ambiguous", "Duplicate"}

# name: (text before the kernel, the line in place of LINE, includes)
TAKEN = {
    "own_constant": ("", "    out[i] = in[i] * 2 + float(TILE_DIM - 32);", ""),
    "own_header": ("", "    out[i] = in[i] * 4 * HALVES + Shift{0}.by;", ""),
    "groups": ("namespace cg = cooperative_groups;\n",
               "    out[i] = in[i] * 2;\n  cg::thread_block block = cg::this_thread_block();\n  block.sync();",
               "#include <cooperative_groups.h>\n"),
    "half": ("", "    out[i] = in[i] * __half2float(__float2half(2.0f));", "#include <cuda_fp16.h>\n"),
    "table": ("__constant__ float kFactors[2] = {1.0f, 2.0f};\n__constant__ const int kFirst[4] = {1, 0, 1, 0};\n",
              "    out[i] = in[i] * kFactors[kFirst[i & 2]];", ""),
    "device_table": ("__device__ constexpr int kFactors[2] = {2, 2};\nstatic constexpr __device__ int kMore[2] = {0, 0};\n",
                     "    out[i] = in[i] * kFactors[i & 1] + kMore[i & 1];", ""),
    "templates": ("template <int N> struct Factor { static constexpr float value = N; };\n"
                  "template <class T> __device__ T scaled(T v) { return v * Factor<2>::value; }\n",
                  "    out[i] = scaled(in[i]);", ""),
    "macro": ("#define DOUBLED(v) ((v) + (v))\nusing Real = float;\n", "    out[i] = DOUBLED(Real(in[i]));", ""),
    "new_header": ("", "    out[i] = tile::twice(in[i]);", '#include "tile.cuh"\n'),
}
LOAD = """    {
      float v;
      asm("ld.global.nc.f32 %0, [%1];" : "=f"(v) : "l"(in + i));
      out[i] = v * 2;
    }"""
# name: (text before the kernel, the line in place of LINE, verdict, what the reason says)
REFUSED = {
    "clock": ("", '    {\n      long long t;\n      asm volatile("mov.u64 %0, %%clock64;" : "=l"(t));\n      out[i] = in[i] * 2 + (t == 0);\n    }',
              "Rejected", r"'%clock64'.* at clock\.cu:13"),
    "mutable": ("__device__ int counter;\n", "    out[i] = in[i] * 2 + 0 * counter++;", "Rejected", r"'counter' is new.* at mutable\.cu:7"),
    "changed_constant": ("", "    out[i] = in[i] * 2 + float(STEPS - 4);", "Rejected", r"changes constant 'STEPS' \(.*:5\)"),
    "set_by_host": ("__constant__ float factor;\n", "    out[i] = in[i] * factor;", "Rejected", r"variable 'factor' has no values"),
    "ptx": ("", LOAD, "BuildFailed", r"the emulated device cannot run this candidate: .*ptx\.cu:13.*: inline assembly cannot run"),
}


# Judged in the fast lane: what it takes from its headers, a table, templates, a new header; and what is refused of these.
FEW = ("own_header", "table", "templates", "new_header", "clock", "mutable", "set_by_host")


class TrialBrings(KoptTest):
    def candidate(self, name, before, line, includes=""):
        text = BASE.replace(LINE, line).replace("KOPT_TUNE", before + "KOPT_TUNE")
        if name == "changed_constant":
            text = text.replace("STEPS = 3", "STEPS = 4")
        return self.write(f"sub/{name}.cu", includes + text)

    def test_in_one_trial(self):
        self.judge(FEW)

    def test_the_others_in_another(self):
        self.judge([name for name in (*TAKEN, *REFUSED) if name not in FEW])

    def judge(self, names):
        taken = {name: brings for name, brings in TAKEN.items() if name in names}
        refused = {name: brings for name, brings in REFUSED.items() if name in names}
        self.assertEqual(len(taken) + len(refused), len(names))
        (self.folder / "sub").mkdir()
        self.write("common.h", COMMON)
        self.write("sub/tile.cuh", '#include "../common.h"\nnamespace tile { __device__ inline float twice(float v) { return v * 4 * HALVES; } }\n')
        base = self.write("sub/base.cu", BASE)
        files = [self.candidate(name, *brings) for name, brings in taken.items()]
        files += [self.candidate(name, before, line) for name, (before, line, _, _) in refused.items()]
        arguments = [argument for file in files for argument in ("--candidate", file)]
        done = self.kopt_trial(base, *arguments, "--device", "emulated", "--json", *FLAGS)
        trials = {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}
        for name in taken:
            with self.subTest(name):
                self.assertIn(trials[name]["verdict"], JUDGED, trials[name]["reason"])
        for name, (_, _, verdict, reason) in refused.items():
            with self.subTest(name):
                self.assertEqual(trials[name]["verdict"], verdict, trials[name]["reason"])
                self.assertTrue(re.search(reason, trials[name]["reason"]), trials[name]["reason"])


if __name__ == "__main__":
    unittest.main()
