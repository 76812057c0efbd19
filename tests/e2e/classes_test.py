# SPDX-License-Identifier: Apache-2.0
"""A candidate that is faster on some launches of a kernel and slower on others runs only where it is faster."""

import json
import unittest

from kopt_test import FLAGS, KoptTest

# A table pays off once a thread decodes several levels; before that it costs more than it saves.
DECODE = """#include <kopt/kopt.h>
constexpr int TABLE = 0;
__device__ float curve(float level) {
  float root = 1;
  for (int k = 0; k < 12; ++k)
    root = 0.5f * (root + level / root);
  return root;
}
KOPT_TUNE("param TABLE in {0, 1}", "launch small: n = 1024 weight 0.5", "launch large: n = 32768 weight 0.5",
          "extent in = n", "extent out = n", "fill in = uniform(0, 255)")
__global__ void decode(const unsigned char *in, float *out, int n) {
  __shared__ float table[256];
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  const int step = gridDim.x * blockDim.x;
  if (TABLE) {
    for (int level = threadIdx.x; level < 256; level += blockDim.x)
      table[level] = curve(level + 1);
    __syncthreads();
  }
  for (int i = first; i < n; i += step)
    out[i] = TABLE ? table[in[i]] : curve(in[i] + 1);
}
void run(const unsigned char *in, float *out, int n) { decode<<<16, 64>>>(in, out, n); }
"""
REST = DECODE[DECODE.index("  if (TABLE) {"):DECODE.index("}\nvoid run")]
INDENTED = "".join("  " + line + "\n" for line in REST.splitlines())
GUARDED = DECODE.replace(REST, "  if (n >= 32768) {\n    constexpr int TABLE = 1;\n" + INDENTED + "  } else {\n" + INDENTED + "  }\n")


class Classes(KoptTest):
    def test_a_body_that_gains_at_one_size_runs_at_that_size_only(self):
        file = self.folder / "decode.cu"
        file.write_text(DECODE)
        done = self.kopt_ok("tune", "decode.cu", "--device", "emulated", "--json", "--proposers", "params", *FLAGS)
        outcome = json.loads(done.stdout)
        [win] = outcome["details"]["session"]["wins"]
        self.assertEqual(win["state"], "modelled", win)
        self.assertEqual(win["title"], "TABLE = 1 where n >= 32768", win)
        report = self.kopt_ok("explain", win["run_name"]).stdout
        self.assertIn("'classes' was asked", report)
        self.assertIn("because candidates were faster on some launches only", report)

        # The header mode has the same text, and leaves the file as it is.
        self.kopt_ok("apply", "--mode", "header", "--modelled")
        self.assertEqual(file.read_text(), DECODE)
        self.assertIn("  if (n >= 32768) {\n    constexpr int TABLE = 1;\n", (self.folder / "kopt" / "decode.cuh").read_text())
        self.assertIn("1 tuned, 0 stale, 0 regressed", self.kopt_ok("check").stdout)

        self.kopt_ok("apply", "--modelled")
        self.assertEqual(file.read_text(), GUARDED)


if __name__ == "__main__":
    unittest.main()
