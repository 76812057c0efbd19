# SPDX-License-Identifier: Apache-2.0
"""kopt harness --run on a GPU: a harness gives what the program had, and notices a wrong kernel."""

import os
import shutil
import subprocess
import sys
import unittest

from kopt_test import KoptTest, has_gpu

# A struct with a pointer, pointers in memory, a variable that the host sets, one that the kernel changes, and more shared
# memory than a launch has by itself. The second launch leaves what the first one left.
PROGRAM = """#include <cstdio>
#include <cuda_runtime.h>
struct Span { float *data; int count; };
__constant__ float weights[4];
__device__ unsigned long long calls;
__global__ void weigh(Span out, const float *const *rows) {
  extern __shared__ float tile[];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  tile[threadIdx.x] = i < out.count ? *rows[i] : 0;
  __syncthreads();
  if (i < out.count) out.data[i] = weights[i % 4] * tile[threadIdx.x];
  if (i == 0) ++calls;
}
int main() {
  const int n = 5000;
  float host[4] = {1, 2, 3, 4}, *in, *out, **rows;
  cudaMallocManaged(&in, n * sizeof(float));
  cudaMalloc(&out, n * sizeof(float));
  cudaMallocManaged(&rows, n * sizeof(float *));
  for (int i = 0; i < n; ++i) in[i] = i * 0.5f, rows[i] = in + n - 1 - i;
  cudaMemcpyToSymbol(weights, host, sizeof host);
  cudaFuncSetAttribute(weigh, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
  for (int i = 0; i < 2; ++i) weigh<<<(n + 255) / 256, 256, 65536>>>(Span{out, n}, rows);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


class Harness(KoptTest):
    def setUp(self):
        super().setUp()
        self.write("app.cu", PROGRAM)
        self.command("nvcc", "-arch=native", "app.cu", "-o", "app")

    def command(self, *words, code=0, cwd=None):
        done = subprocess.run(words, cwd=cwd or self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=300)
        self.assertEqual(done.returncode, code, done.stdout)
        return done.stdout

    def build(self, old="", new=""):
        folder = self.folder / "kopt.harness" / "weigh"
        text = (folder / "harness.cu").read_text()
        self.assertTrue(old in text)
        (folder / "harness.cu").write_text(text.replace(old, new, 1) if old else text)
        self.command("sh", "build.sh", cwd=folder)
        return folder

    def test_it_notices_a_wrong_kernel(self):
        self.kopt_ok("harness", "app.cu", "--kernel", "weigh", "--run", "./app", "--", "-arch=native")
        out = self.command("./harness", cwd=self.build())
        self.assertIn("buffers are the same", out)
        self.assertRegex(out, r"time: min [\d.]+ us, median [\d.]+ us \(10 rounds\)")
        old = "out.data[i] = weights"
        self.assertRegex(self.command("./harness", cwd=self.build(old, "if (!rows) " + old), code=1), r"\[\d+\] is .*, expected")
        self.assertRegex(self.command("./harness", cwd=self.build("if (!rows) " + old, "out.data[1ull << 40] = 1; " + old), code=1),
                         "does not run through: an illegal")

    def test_declared_values_are_compared_with_the_unedited_kernel(self):
        self.write("plain.cu", "__global__ void twice(float *p, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                   "  if (i < n) p[i] *= 2;\n}\nvoid run(float *p, int n) { twice<<<(n + 255) / 256, 256>>>(p, n); }\n")
        self.kopt_ok("harness", "plain.cu", "--kernel", "twice", "-o", "kopt.harness", "--", "-arch=native")
        folder = self.folder / "kopt.harness" / "twice"
        self.command("sh", "build.sh", cwd=folder)
        self.assertIn("all 1 buffers are the same", self.command("./harness", cwd=folder))
        text = (folder / "harness.cu").read_text()
        (folder / "harness.cu").write_text(text.replace("p[i] *= 2", "p[i] *= 3", 1))
        self.command("sh", "build.sh", cwd=folder)
        self.assertIn("1024 of 4194304 elements differ", self.command("./harness", cwd=folder, code=1))


if __name__ == "__main__":
    os.environ["PATH"] += ":/usr/local/cuda/bin"
    if not has_gpu() or not shutil.which("nvcc"):
        print("no GPU, or no nvcc")
        sys.exit(77)
    unittest.main()
