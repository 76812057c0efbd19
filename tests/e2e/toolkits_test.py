# SPDX-License-Identifier: Apache-2.0
"""The same kernels with each CUDA toolkit: the one that is installed, those of KOPT_TEST_TOOLKITS (folders, with a colon between
them), and else the newest one on PyPI."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

from kopt_test import BIN, DATA, FLAGS, KoptTest, find_nvcc

PARTS = ["nvidia-cuda-nvcc", "nvidia-nvvm", "nvidia-cuda-crt", "nvidia-cuda-runtime", "nvidia-cuda-cccl"]
# Between them they read the headers of CUDA, of its library for C++, and of 16-bit numbers.
REDUCED = """
#include <cub/block/block_reduce.cuh>
#include <cuda/std/limits>
#include <cuda_bf16.h>
template <int THREADS> __global__ void largest(const __nv_bfloat16 *in, float *out, int n) {
  using Reduce = cub::BlockReduce<float, THREADS>;
  __shared__ typename Reduce::TempStorage storage;
  const int i = blockIdx.x * THREADS + threadIdx.x;
  const float value = i < n ? __bfloat162float(in[i]) : -cuda::std::numeric_limits<float>::max();
  const float most = Reduce(storage).Reduce(value, [](float a, float b) { return a > b ? a : b; });
  if (threadIdx.x == 0) out[blockIdx.x] = most;
}
void run(const __nv_bfloat16 *in, float *out, int n) { largest<128><<<(n + 127) / 128, 128>>>(in, out, n); }
"""


def newest(folder):
    """The newest toolkit of PyPI, in the folder; None where it cannot be had."""
    done = subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(folder), *PARTS],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        print("the newest toolkit is not tried:", done.stdout)
        return None
    for wheel in folder.glob("*.whl"):
        with zipfile.ZipFile(wheel) as packed:
            packed.extractall(folder)
    [root] = (folder / "nvidia").iterdir()
    for program in [*(root / "bin").iterdir(), *(root / "nvvm" / "bin").iterdir()]:
        program.chmod(0o755)
    return root


class Toolkits(KoptTest):
    def toolkits(self):
        if nvcc := find_nvcc():
            yield nvcc.parent.parent
        if named := os.environ.get("KOPT_TEST_TOOLKITS"):
            yield from map(pathlib.Path, named.split(":"))
            return
        fetched = tempfile.TemporaryDirectory(prefix="kopt-toolkit-")
        self.addCleanup(fetched.cleanup)
        if found := newest(pathlib.Path(fetched.name)):
            yield found

    def test_kernels_are_proven_and_tuned_with_each(self):
        reduced = self.write("reduced.cu", REDUCED)
        scale = self.copy(DATA / "scale.cu")
        for toolkit in self.toolkits():
            with self.subTest(toolkit=str(toolkit)):
                env = {"KOPT_CUDA_PATH": str(toolkit)}
                read = subprocess.run([BIN / "kopt-extract", "--no-cache", reduced, "-o", self.folder / "slices", "--", "-std=c++17",
                                       "-arch=sm_90"], env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                      text=True)
                self.assertEqual(read.returncode, 0, read.stdout)
                self.assertIn("1 proven", read.stdout)
                self.assertNotIn("note:", read.stdout)
                self.kopt_ok("tune", scale, "--device", "emulated", "--proposers", "params", "--rounds", "1", *FLAGS, env=env)


if __name__ == "__main__":
    unittest.main()
