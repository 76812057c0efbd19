# SPDX-License-Identifier: Apache-2.0
"""A kernel whose launches pass the same scalars is written for these values, and runs as it was with others."""

import json
import unittest

from kopt_test import FLAGS, KoptTest

HEAD = """KOPT_TUNE("arg n = 4096", "arg m = 12", "arg p = 2.0", "extent a = n * m", "extent out = n")
__global__ void rowNorm("""
REST = """const float *a, float *out, int n, int m, float p) {
  float terms[16];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n)
    return;
  for (int j = 0; j < m && j < 16; ++j)
    terms[j] = powf(fabsf(a[i * m + j]), p);
  float sum = 0;
  for (int j = 0; j < m && j < 16; ++j)
    for (int k = 0; k <= j; ++k)
      sum += terms[j] * terms[k];
  out[i] = sum;
}
"""
RUN = "void run(const float *a, float *out, int n, int m, float p) { rowNorm<<<(n + 127) / 128, 128>>>(a, out, n, m, p); }\n"
INCLUDE = "#include <kopt/kopt.h>\n"
SPECIALISED = """static __device__ __forceinline__ void rowNormBody(""" + REST + "\n" + HEAD + REST.split("{")[0] + """{
  // The values of the measured launches, as constants; others take the general path.
  if (n == 4096 && m == 12 && p == 2.0f)
    rowNormBody(a, out, 4096, 12, 2.0f);
  else
    rowNormBody(a, out, n, m, p);
}
"""


class Specialise(KoptTest):
    def test_it_wins_with_both_ways_verified(self):
        file = self.folder / "norm.cu"
        file.write_text(INCLUDE + HEAD + REST + RUN)
        done = self.kopt_ok("tune", "norm.cu", "--device", "emulated", "--json", "--proposers", "transform", "--strategy", "greedy", "--trials", "4",
                            *FLAGS)
        winner = json.loads(done.stdout)["results"][0]["winner"]
        self.assertEqual(winner["title"], "specialise for n == 4096 && m == 12 && p == 2.0f", winner)
        self.assertEqual((winner["assurance"]["level"], winner["assurance"]["gaps"]), ("full", []))
        self.kopt_ok("apply", "--modelled")
        self.assertEqual(file.read_text(), INCLUDE + SPECIALISED + RUN)


if __name__ == "__main__":
    unittest.main()
