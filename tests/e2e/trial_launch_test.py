# SPDX-License-Identifier: Apache-2.0
"""A candidate is judged as its own file launches it, and what it changes of host code otherwise is refused by name."""

import json
import pathlib
import unittest

from kopt_test import FLAGS, KoptTest

SCALED = """#include <kopt/kopt.h>
#include <cstdio>
template <class T, int PER>
KOPT_TUNE("launch L: n = 6144", "extent in = n", "extent out = n", "require n % PER == 0 && PER <= 8")
__global__ void scaled(const T *in, T *out, int n) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;
  for (int k = 0; k < PER; ++k)
    if (i + k < n)
      out[i + k] = T(2) * in[i + k];
}
void run(const float *in, float *out, int n) {
  const int threads = 256;
  scaled<float, 2><<<(n + threads * 2 - 1) / (threads * 2), threads>>>(in, out, n);
  std::puts("done");
}
"""
LAUNCH = "scaled<float, 2><<<(n + threads * 2 - 1) / (threads * 2), threads>>>"
INDEX = "  int i = (blockIdx.x * blockDim.x + threadIdx.x) * PER;\n"
RIGHT = {"Faster", "Same", "Slower", "Ambiguous"}
OPT_IN = "  cudaFuncSetAttribute(scaled<float, 2>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n"
SHARED = ((INDEX, "  extern __shared__ int order[];\n  order[threadIdx.x] = threadIdx.x;\n" + INDEX.replace("threadIdx.x", "order[threadIdx.x]")),
          ("  const int threads = 256;\n", "  const int threads = 256;\n  const int bytes = 65536;\n" + OPT_IN),
          (", threads>>>", ", threads, bytes>>>"))

# name: (replacements, verdicts accepted, words of the reason)
CANDIDATES = {
    "launch_alone": ([("threads = 256", "threads = 128")], RIGHT, ()),
    "coarse": ([(INDEX, "  for (int part = 0; part < 4; ++part) {\n" + INDEX.replace("blockIdx.x", "(blockIdx.x + part * gridDim.x)")),
                ("= T(2) * in[i + k];\n", "= T(2) * in[i + k];\n  }\n"),
                ("  " + LAUNCH, "  int blocks = (n / 4 + threads * 2 - 1) / (threads * 2);\n  if (blocks < (n + 2047) / 2048)\n    ++blocks;\n"
                 "  scaled<float, 2><<<blocks, threads>>>")], RIGHT, ()),
    "impossible": ([(LAUNCH, "scaled<float, 2><<<n / 2, 2048>>>")], {"Rejected"}, ("2048 threads", "1024")),
    "empty": ([(LAUNCH, "scaled<float, 2><<<n / 8192, 256>>>")], {"Rejected"}, ("grid's x", "is 0")),
    "too_few": ([(LAUNCH, "scaled<float, 2><<<(n / 2 + threads * 2 - 1) / (threads * 2), threads>>>")], {"WrongResult"}, ("unwritten",)),
    "capped": ([("threads = 256", "threads = 64"), ("  " + LAUNCH, "  int blocks = (n + threads * 2 - 1) / (threads * 2);\n"
                 "  if (blocks > 48)\n    blocks = 48;\n  scaled<float, 2><<<blocks, threads>>>")], {"WrongResult"}, ("n = ",)),
    "wider": ([(LAUNCH, "scaled<float, 8><<<(n + threads * 8 - 1) / (threads * 8), threads>>>")], RIGHT, ()),
    "past_a_require": ([(LAUNCH, "scaled<float, 16><<<(n + threads * 16 - 1) / (threads * 16), threads>>>")], {"Rejected"},
                       ("require n % PER == 0 && PER <= 8", "PER = 16")),
    "host": ([('"done"', '"finished"')], {"Rejected"}, ("host.cu:14", "finished", "base.cu:14")),
    "another_launch": ([("  std::puts", f"  {LAUNCH}(out, out, n);\n  std::puts")], {"Rejected"}, ("another_launch.cu:14", "adds 'scaled")),
    "as_it_was": ([("void run(", "static int divided(int a, int b) {\n  return (a + b - 1) / b; // rounds up\n}\n\n// Runs it.\nvoid run("),
                   (LAUNCH, "scaled<float, 2>\n    <<<divided(n, threads * 2), threads>>>")], {"Duplicate"}, ()),
    "unknown": ([("void run(", "int blocksOf(const float *);\nvoid run("), (LAUNCH, "scaled<float, 2><<<blocksOf(in), threads>>>")],
                {"Rejected"}, ("grid", "unknown.cu:14", "could not be read")),
    "large": (SHARED, RIGHT, ()),
    "too_large": ([*SHARED, ("bytes = 65536", "bytes = 300000")], {"Rejected"}, ("300000 bytes of shared memory",)),
    "large_unasked": ([SHARED[0], (SHARED[1][0], SHARED[1][1].replace(OPT_IN, "")), SHARED[2]], {"Rejected"}, ("65536", "49152", "cudaFuncSetAttribute")),
}

# Judged in the fast lane: a launch that is another, one that cannot be, other template arguments, host code, shared memory.
FEW = ("coarse", "impossible", "wider", "past_a_require", "host", "large_unasked")

TURNED = """#include <kopt/kopt.h>
#define EDGE 32
KOPT_TUNE("launch L: width = 96, height = 64", "extent in = width * height", "extent out = width * height",
          "require width % 32 == 0 && height % 32 == 0")
__global__ void turned(const float *in, float *out, int width, int height) {
  int x = blockIdx.x * EDGE + threadIdx.x, y = blockIdx.y * EDGE + threadIdx.y;
  out[x * height + y] = in[y * width + x];
}
void run(const float *in, float *out, int width, int height) {
  dim3 block(EDGE, EDGE), grid(width / EDGE, height / EDGE);
  turned<<<grid, block>>>(in, out, width, height);
}
"""
ROWS = """  __shared__ float tile[EDGE][EDGE + 1];
  int x = blockIdx.x * EDGE + threadIdx.x, y = blockIdx.y * EDGE + threadIdx.y;
  for (int row = 0; row < EDGE; row += 8)
    tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
  __syncthreads();
  x = blockIdx.y * EDGE + threadIdx.x, y = blockIdx.x * EDGE + threadIdx.y;
  for (int row = 0; row < EDGE; row += 8)
    out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
"""


class TrialLaunch(KoptTest):
    def judge(self, base, candidates):
        """The trials by name."""
        original, files = self.write("base.cu", base), []
        for name, changes in candidates.items():
            text = base
            for old, new in changes:
                self.assertIn(old, text)
                text = text.replace(old, new)
            files += ["--candidate", self.write(f"{name}.cu", text)]
        done = self.kopt_trial(original, *files, "--device", "emulated", "--json", *FLAGS)
        return {pathlib.Path(trial["candidate"]).stem: trial for trial in json.loads(done.stdout)["results"]}

    def test_each_is_judged_as_it_is_launched(self):
        self.judged_as_launched(FEW)

    def test_the_others_are_too(self):
        self.judged_as_launched([name for name in CANDIDATES if name not in FEW])

    def judged_as_launched(self, names):
        trials = self.judge(SCALED, {name: CANDIDATES[name][0] for name in names})
        for name in names:
            _, verdicts, words = CANDIDATES[name]
            with self.subTest(name):
                self.assertIn(trials[name]["verdict"], verdicts, trials[name]["reason"])
                for word in words:
                    self.assertIn(word, trials[name]["reason"])

    def test_a_tile_with_fewer_rows_of_threads(self):
        body = TURNED.split("height) {\n", 1)[1].split("}\n", 1)[0]
        trials = self.judge(TURNED, {"rows": [(body, ROWS), ("block(EDGE, EDGE)", "block(EDGE, 8)")],
                                     "too_many": [("block(EDGE, EDGE)", "block(EDGE, EDGE, 2)")]})
        self.assertIn(trials["rows"]["verdict"], RIGHT, trials["rows"]["reason"])
        self.assertIn("x 8 x 1", " ".join(note["message"] for note in trials["rows"]["findings"] if note["id"] == "launch"))
        self.assertEqual(trials["too_many"]["verdict"], "Rejected", trials["too_many"]["reason"])

    def test_scripts_choose_what_fails(self):
        base = self.write("base.cu", SCALED)
        bad = self.write("bad.cu", SCALED.replace('"done"', '"finished"'))
        arguments = (base, "--device", "emulated", "--candidate")
        for more, code in (((bad, "--fail-on", "never"), 0), ((base, "--fail-on", "not-faster"), 2)):
            done = self.kopt("trial", *arguments, *more, *FLAGS)
            self.assertEqual(done.returncode, code, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
