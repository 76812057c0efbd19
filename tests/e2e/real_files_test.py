# SPDX-License-Identifier: Apache-2.0
"""What files of real programs have in them beside a kernel, and what people get wrong in declaring one: all of it in one file each."""

import json
import struct
import unittest

from kopt_test import FLAGS, KoptTest, find_nvcc

# The shape and the indices decide which memory is read: random numbers would read anything.
GATHER = """#include <kopt/kopt.h>
#include <assert.h>
#include <cfloat>
#include <chrono>
#include <cooperative_groups.h>
#include <iostream>
#include <vector>

KOPT_TUNE("arg n = 96", "extent out = n", "extent in = 41 * 13", "extent shape = 2", "extent rows = n",
          "fill shape = values(41, 13)", "fill rows = file('rows.bin')")
__global__ void gather(const float *in, const int *shape, const int *rows, float *out, int n) {
  cudaGridDependencySynchronize();
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(shape[1] == 13);
  if (i < n)
    out[i] = in[rows[i] * shape[1] + i % shape[1]];
  cudaTriggerProgrammaticLaunchCompletion();
}

void run(const float *in, const int *shape, const int *rows, float *out, int n) {
  std::cout << n << FLT_MAX << std::endl;
  gather<<<(n + 31) / 32, 32>>>(in, shape, rows, out, n);
}
"""


class RealFiles(KoptTest):
    def test_a_kernel_with_a_shape_and_indices_beside_host_code(self):
        file = self.write("gather.cu", GATHER)
        (self.folder / "rows.bin").write_bytes(struct.pack("<96i", *(i * 7 % 41 for i in range(96))))
        done = self.kopt_ok("trial", file, "--candidate", file, "--device", "emulated", "--json", *FLAGS)
        trial = json.loads(done.stdout)["results"][0]
        self.assertEqual(trial["verdict"], "Duplicate", trial["reason"])
        # Without the values nothing runs: what is random reads past the end.
        self.write("gather.cu", GATHER.replace("file('rows.bin')", "uniform(0, 100)"))
        failed = self.kopt("trial", file, "--candidate", file, "--device", "emulated", *FLAGS)
        self.assertNotEqual(failed.returncode, 0)
        self.assertIn("out of bounds", failed.stderr)

    @unittest.skipUnless(find_nvcc(), "there is no toolkit, whose headers it includes")
    def test_beside_the_toolkits_libraries(self):
        text = GATHER.replace("#include <chrono>\n", "#include <chrono>\n#include <cub/cub.cuh>\n#include <cublas_v2.h>\n")
        file = self.write("gather.cu", text)
        (self.folder / "rows.bin").write_bytes(struct.pack("<96i", *(i * 7 % 41 for i in range(96))))
        done = self.kopt_ok("trial", file, "--candidate", file, "--device", "emulated", "--json", *FLAGS,
                            env={"KOPT_CUDA_PATH": str(find_nvcc().parent.parent)})
        trial = json.loads(done.stdout)["results"][0]
        self.assertEqual(trial["verdict"], "Duplicate", trial["reason"])

    def fails(self, text, *words, code=1):
        done = self.kopt("trial", self.write("gather.cu", text), "--candidate", "gather.cu", "--device", "emulated", *FLAGS)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertLess(len(done.stderr.splitlines()), 30, done.stderr)

    def test_what_is_declared_wrong_is_named(self):
        # None of it depends on host code, and headers of the host's library are most of what there is to read.
        text = GATHER.replace("  std::cout << n << FLT_MAX << std::endl;\n", "")
        for header in ("cfloat", "chrono", "iostream", "vector"):
            self.assertIn(f"#include <{header}>\n", text)
            text = text.replace(f"#include <{header}>\n", "")
        (self.folder / "rows.bin").write_bytes(struct.pack("<5i", *range(5)))
        self.fails(text, "fill rows gives 5 elements of 4 bytes, but extent rows is 96")
        self.fails(text.replace("extent rows", "extent row"), "extent row: kernel 'gather' has no pointer", "did you mean 'rows'?")
        self.fails(text.replace('"arg n = 96", "extent out = n", ', ""), "no extent for 'out' and no value for 'n'",
                   '"arg n = 1024", "extent out = n"')
        self.fails(text.replace("#include <kopt/kopt.h>\n", ""), "add #include <kopt/kopt.h>", code=4)

    def test_flags_of_the_compiler_follow_two_dashes(self):
        self.write("gather.cu", GATHER)
        done = self.kopt("tune", "gather.cu", "-O3")
        self.assertEqual(done.returncode, 1)
        self.assertIn("flags of the compiler follow '--': tune … -- -O3", done.stderr)


if __name__ == "__main__":
    unittest.main()
